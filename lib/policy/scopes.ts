import type { FastifyRequest } from 'fastify'
import type { Model } from '../model/define-model.js'
import { planScope } from '../plan/plan-scope.js'
import { unscoped, type Scope, type Viewer } from '../plan/viewer.js'
import { userOf } from './guard.js'
import type { AnyPolicy, Identity } from './policy.js'
import { findsSameUsers } from './protection.js'

/** The function of a resource that says which records a user may see, and the policy whose users it is made for. */
export interface ScopeRule {
  readonly model: Model
  readonly policy: AnyPolicy
  /** Returns an object in the grammar of filters, or null for no record. The user is null if nobody is logged in. */
  scope (user: Identity | null): unknown
}

/** The scopes that a request to a resource may meet. */
export interface ResourceScopes {
  /** Scope of the resource itself; undefined if everybody sees every record. */
  readonly scopeRule: ScopeRule | undefined
  /** Scopes of the models that are seen in part only, as their first registered resources say. */
  readonly relatedScopes: ReadonlyMap<Model, ScopeRule>
}

/** Returns what the sender of a request may see. Each scope is evaluated when it is first asked for, and only once. */
export function viewerOf (
  request: FastifyRequest, { policy, scopeRule, relatedScopes }: ResourceScopes & { readonly policy: AnyPolicy }
): Viewer {
  if (scopeRule === undefined && relatedScopes.size === 0) return unscoped
  const user = userOf<Identity>(request)
  const known = new Map<ScopeRule, Scope>()
  const evaluate = (rule: ScopeRule | undefined): Scope => {
    if (rule === undefined) return unscoped.scope
    const scope = known.get(rule) ?? scopeFor(rule, findsSameUsers(rule.policy, policy) ? user : null)
    known.set(rule, scope)
    return scope
  }
  return { scope: evaluate(scopeRule), scopeOf: (related) => evaluate(relatedScopes.get(related)) }
}

/**
 * Returns the scope of a user, or of nobody. Nobody sees no record of a resource whose policy has no open operation.
 *
 * @throws TypeError, which becomes a 500 and is logged, if the function throws or returns what is no scope
 */
export function scopeFor ({ model, policy, scope }: ScopeRule, user: Identity | null): Scope {
  if (user === null && policy.open.length === 0) return planScope(model, null)
  return planScope(model, evaluated(model, () => scope(user)))
}

function evaluated (model: Model, evaluate: () => unknown): unknown {
  try {
    return evaluate()
  } catch (cause) {
    throw new TypeError(`The scope of model '${model.name}' failed`, { cause })
  }
}
