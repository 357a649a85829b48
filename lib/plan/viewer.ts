import type { Operator } from '../fields/operators.js'
import type { Model } from '../model/define-model.js'
import type { Json } from '../values/values.js'
import type { Path } from './path.js'

/**
 * A condition of a scope with its values as JSON. If there are several, any of them may match, and for `ne` none of
 * them may. A pattern is a text.
 */
export interface ScopeCondition {
  readonly path: Path
  readonly operator: Operator
  readonly values: readonly Json[]
}

/** Conditions that a record must meet to be seen, all of them; none if every record is seen. */
export type Scope = readonly ScopeCondition[]

/** The scope in which every record is seen. */
export const everything: Scope = Object.freeze([])

/** The records that the sender of one request may see. */
export interface Viewer {
  /** The scope of the resource's own records. */
  readonly scope: Scope
  /** Returns the scope of the records of a related model. */
  scopeOf (related: Model): Scope
}

/** The records and the models that the sender of a list may use. */
export interface ListViewer extends Viewer {
  /** Related models that the sender may not list, and so may not filter through. */
  readonly closed: ReadonlySet<Model>
}

/** Sees every record. */
export const unscoped: Viewer = Object.freeze({ scope: everything, scopeOf: () => everything })

/** Returns the conditions of a scope for the records that lie at the end of `joins`. */
export function behind (joins: Path['joins'], scope: Scope): Scope {
  return scope.map(({ path, ...condition }) => ({ ...condition, path: { ...path, joins: [...joins, ...path.joins] } }))
}
