import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Model } from '../model/define-model.js'
import type { PlanScope } from '../plan/plan-scope.js'
import { everything, unscoped, type ListViewer, type Scope, type Viewer } from '../plan/viewer.js'
import { userOf, type Protected } from './guard.js'
import type { Operation } from './operations.js'
import type { AnyPolicy, Identity } from './policy.js'
import { isPermitted, type RelatedProtection } from './protection.js'

/** The function of a resource that says which records a user may see, and the policy whose users it is made for. */
export interface ScopeRule {
  readonly model: Model
  readonly policy: AnyPolicy
  /**
   * Returns an object of filters, such as `{ age__lt: 30 }`, or null for no record. The user is null if nobody is
   * logged in. In a request to another resource, the user is also null if anybody may do the operation and that
   * resource has no scope, or if that resource's policy finds users whom this policy does not know.
   */
  scope (user: Identity | null): unknown
  /** Converts the result of `scope` to conditions on columns. */
  readonly planScope: PlanScope
}

/** The scope of a related model: that of the first resource that was registered for the model. */
export interface RelatedScope {
  readonly rule: ScopeRule
  /**
   * True if the policy of the related model knows the users of the requested resource. If false, the scope is evaluated
   * for a client that is not logged in.
   */
  readonly knowsUsers: boolean
}

/** The scopes that limit which records a request to a resource may see. */
export interface ResourceScopes {
  /** Scope of the resource itself; undefined if everybody sees every record. */
  readonly scopeRule: ScopeRule | undefined
  /** Scopes of related models. If a model is not in the map, all of its records may be seen. */
  readonly relatedScopes: ReadonlyMap<Model, RelatedScope>
}

/**
 * Returns which records the sender of a request may see. The scope of a related model is evaluated when it is first
 * asked for. Each scope is evaluated at most once. Throws as {@link scopeFor}.
 */
export function viewerOf (request: FastifyRequest, { scopeRule, relatedScopes }: ResourceScopes): Viewer {
  if (scopeRule === undefined && relatedScopes.size === 0) return unscoped
  const user = userOf<Identity>(request)
  const known = new Map<ScopeRule, Scope>()
  const evaluate = (rule: ScopeRule, knowsUsers: boolean): Scope => {
    const scope = known.get(rule) ?? scopeFor(rule, knowsUsers ? user : null)
    known.set(rule, scope)
    return scope
  }
  return {
    scope: scopeRule === undefined ? everything : evaluate(scopeRule, true),
    scopeOf: (related) => {
      const found = relatedScopes.get(related)
      return found === undefined ? everything : evaluate(found.rule, found.knowsUsers)
    }
  }
}

/** Returns which records the sender of a request may see, and which related models the query must not use. */
export function listViewerOf (request: FastifyRequest, resource: ResourceScopes & RelatedProtection): ListViewer {
  const { scope, scopeOf } = viewerOf(request, resource)
  return { scope, scopeOf, closed: modelsClosedTo(request, resource) }
}

/**
 * Returns the related models that the sender of a request may not list, and so may neither filter through nor include.
 */
function modelsClosedTo (
  request: FastifyRequest, { closedModels, guardedModels }: RelatedProtection
): ReadonlySet<Model> {
  if (guardedModels.size === 0) return closedModels
  const user = userOf<Identity>(request)
  const mayList = (policy: AnyPolicy): boolean => user !== null && isPermitted(policy, user, 'list')
  const others = [...guardedModels].filter(([, policy]) => !mayList(policy)).map(([model]) => model)
  return new Set([...closedModels, ...others])
}

/**
 * Returns the scope of a user, as the function `scope` of the resource gives it. If there is no user, it is called
 * with null. But if the policy has no open operation, the function is not called without a user, and the returned
 * scope permits no record.
 *
 * @throws TypeError, which becomes a 500 and is logged, if the function `scope` throws, or returns something that is
 *   not a scope
 */
export function scopeFor ({ model, policy, scope, planScope }: ScopeRule, user: Identity | null): Scope {
  if (user === null && policy.open.length === 0) return planScope(null)
  return planScope(evaluated(model, () => scope(user)))
}

function evaluated (model: Model, evaluate: () => unknown): unknown {
  try {
    return evaluate()
  } catch (cause) {
    throw new TypeError(`The scope of model '${model.name}' failed`, { cause })
  }
}

const kPrivate = Symbol('rest-models.private')

/** The `config` of a route whose answers depend on who asks: {@link noStore} forbids caches to keep these answers. */
export const privateConfig: object = { [kPrivate]: true }

/** True if the answers of an operation depend on who asks. */
export function isPrivate (
  { protections, scopeRule }: Pick<Protected, 'protections' | 'scopeRule'>, operation: Operation
): boolean {
  return protections[operation] !== 'open' || scopeRule !== undefined
}

/**
 * Forbids caches to keep an answer that may depend on who asks. These are all answers of a route with
 * {@link privateConfig}, refusals included, and all answers to a request with the header Authorization.
 */
export const noStore: onRequestHookHandler = (request, reply, done) => {
  const { headers, routeOptions: { config } } = request
  if (headers.authorization !== undefined || kPrivate in config) reply.header('cache-control', 'no-store')
  done()
}
