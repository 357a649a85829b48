import { isSecret, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { withId } from '../model/key.js'
import { reachableModels } from '../model/reachable-models.js'
import type { Access } from '../plan/path.js'
import type { IncludeRules, ShownModel } from '../plan/permitted-includes.js'
import { compileRelatedProtection, knowsUsersOf, type RelatedProtection } from '../policy/protection.js'
import type { RelatedScope, ResourceScopes, ScopeRule } from '../policy/visibility.js'
import type { Registration } from './registration.js'

/**
 * Rules for the clients of a resource. They say which columns filters and orderings may name, which columns of related
 * records `include` shows, and which related models not every client may filter through or include. They also have the
 * scopes of related models, which limit the related records that a client may see.
 */
export interface ResourceAccess extends
  Pick<Access, 'filterable' | 'related'>, Pick<IncludeRules, 'shown'>, RelatedProtection,
  Pick<ResourceScopes, 'relatedScopes'> {}

/**
 * Compiles the {@link ResourceAccess} of all resources, and returns a function that gives that of one resource. If
 * several resources have the same model, the first one registered decides how its records are seen as related records:
 * by its policy, its excluded fields and its scope.
 */
export function compileAccess (registrations: readonly Registration[]): (registration: Registration) => ResourceAccess {
  const first = new Map([...registrations].reverse().map((registration) => [registration.model, registration]))
  const models = [...reachableModels(registrations.map(({ model }) => model))]
  const related = new Map(models.map((model) => [model, openThroughJoins(model, first.get(model))]))
  const policies = new Map([...first].map(([model, { policy }]) => [model, policy]))
  const shown = new Map(models.map((model) => [model, shownOf(model, first.get(model))]))
  const rules = [...first.values()].flatMap(({ scopeRule }) => scopeRule ?? [])
  return (registration) => ({
    filterable: openColumns(registration),
    related,
    shown,
    relatedScopes: scopesBehind(registration, rules),
    ...compileRelatedProtection(registration.policy, policies)
  })
}

/**
 * Returns the scopes of a resource's model, and of all models that its foreign keys lead to, directly or through
 * others. A model whose first registered resource has no scope is left out.
 */
function scopesBehind (
  { model, policy }: Registration, rules: readonly ScopeRule[]
): ReadonlyMap<Model, RelatedScope> {
  const reached = reachableModels([model])
  return new Map(rules.filter((rule) => reached.has(rule.model))
    .map((rule) => [rule.model, { rule, knowsUsers: knowsUsersOf(rule.policy, policy) }]))
}

function openColumns ({ model, excluded, opened }: Registration): ReadonlySet<Column> {
  return new Set(withId(model, model.columns).filter((column) =>
    !isSecret(column) && (!excluded.has(column) || opened.has(column.field))))
}

/**
 * Returns the columns of a related model that filters may name: all that its first registered resource does not
 * exclude, and those that the option `filterable` of that resource names; never a password. If the model has no
 * resource, this is only the primary key.
 */
function openThroughJoins ({ primaryKey }: Model, first: Registration | undefined): ReadonlySet<Column> {
  return first === undefined ? new Set([primaryKey]) : openColumns(first)
}

function shownOf (model: Model, first: Registration | undefined): ShownModel {
  const { name, columns, primaryKey } = model
  if (first === undefined) return { name: name.toLowerCase(), visible: [primaryKey], isListed: true }
  return {
    name: first.name,
    visible: withId(model, columns.filter((column) => !first.excluded.has(column))),
    isListed: first.protections.list !== 'closed'
  }
}
