import { isSecret, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Access } from '../plan/path.js'
import { compileRelatedProtection, type RelatedProtection } from '../policy/protection.js'
import type { Registration } from './registration.js'

/** The columns that clients of a resource may name, and the related models that some of them may not list. */
export interface ResourceAccess extends Pick<Access, 'filterable' | 'related'>, RelatedProtection {}

/**
 * Compiles the allow lists of all resources. A field that a resource excludes is closed through joins too. If a model
 * has several resources, a field is open through joins only if all of them open it.
 */
export function compileAccess (registrations: readonly Registration[]): (registration: Registration) => ResourceAccess {
  const resourcesOf = (model: Model) => registrations.filter((registration) => registration.model === model)
  const models = [...reachableModels(registrations.map(({ model }) => model))]
  const related = new Map(models.map((model) => [model, openThroughJoins(model, resourcesOf(model))]))
  const policies = new Map(models.map((model) => [model, resourcesOf(model).map(({ policy }) => policy)]))
  return (registration) => ({
    filterable: openColumns(registration), related, ...compileRelatedProtection(registration.policy, policies)
  })
}

/** Returns the models, and all others that their foreign keys lead to, directly or not. */
export function reachableModels (models: Iterable<Model>): ReadonlySet<Model> {
  const reached = new Set(models)
  for (const model of reached) {
    for (const { target } of model.columns) if (target !== undefined) reached.add(target())
  }
  return reached
}

function openColumns ({ model, excluded, opened }: Registration): ReadonlySet<Column> {
  return new Set(model.columns.filter((column) =>
    !isSecret(column) && (!excluded.has(column) || opened.has(column.field))))
}

/** Returns the columns that filters may name through joins; of a model without a resource only the primary key. */
function openThroughJoins (model: Model, resources: readonly Registration[]): ReadonlySet<Column> {
  const open = resources.map(openColumns)
  return new Set(model.columns.filter((column) =>
    open.length === 0 ? column === model.primaryKey : open.every((columns) => columns.has(column))))
}
