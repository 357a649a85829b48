import type { Operator } from '../fields/operators.js'
import type { Model } from '../model/define-model.js'
import type { Json } from '../values/values.js'
import type { Path } from './path.js'

/**
 * A condition on the records that a user may see, with its values as JSON. If there are several values, the condition
 * holds if any of them matches; for `ne`, if none is equal. If there are none, it holds for no record. For `like` and
 * `ilike`, each value is the text of a pattern.
 */
export interface ScopeCondition {
  readonly path: Path
  readonly operator: Operator
  readonly values: readonly Json[]
}

/** Conditions that a record must all meet so that a user may see it. Empty if the user may see every record. */
export type Scope = readonly ScopeCondition[]

/** The scope in which every record is seen. */
export const everything: Scope = Object.freeze([])

/** The records that the sender of one request may see. */
export interface Viewer {
  /** Conditions that a record of the resource itself must meet, so that the sender may see it. */
  readonly scope: Scope
  /** Returns the conditions that a record of a related model must meet, so that the sender may see it. */
  scopeOf (related: Model): Scope
}

/** The records and related models that the sender of a request for a list, or of a read with a query, may use. */
export interface ListViewer extends Viewer {
  /** Related models that the sender may not list, and so may neither filter through nor include. */
  readonly closed: ReadonlySet<Model>
}

/** Viewer who may see every record of every model. */
export const unscoped: Viewer = Object.freeze({ scope: everything, scopeOf: () => everything })

/**
 * Returns a scope with `joins` before the path of each condition. So a condition on a related model, such as `active`,
 * becomes one on the model at which `joins` begin, such as `user__active`.
 */
export function scopeThrough (joins: Path['joins'], scope: Scope): Scope {
  return scope.map(({ path, ...condition }) => ({ ...condition, path: { ...path, joins: [...joins, ...path.joins] } }))
}
