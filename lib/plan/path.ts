import { operatorByName, type Operator } from '../fields/operators.js'
import { isForeignKey, type Column, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'

/** A resolved name such as `user__username`: the foreign keys to follow, and the column at their end. */
export interface Path {
  readonly joins: readonly ForeignKeyColumn[]
  readonly column: Column
}

/** Columns that a client may name in filters and orderings: the allow list of a resource, made at setup. */
export interface Access {
  readonly model: Model
  /** Columns of the resource itself that may be filtered by, and also ordered by if `isOrderable` is true for them. */
  readonly filterable: ReadonlySet<Column>
  /** Columns of each related model that may be filtered by. */
  readonly related: ReadonlyMap<Model, ReadonlySet<Column>>
  /**
   * Paths that clients may name in addition, because the option `filterable` of the resource lists them; by their names
   * as {@link pathName} writes them.
   */
  readonly opened: ReadonlyMap<string, Path>
}

/**
 * Resolves a path from the names of its foreign keys and its column. Returns undefined if a name does not exist, or if
 * one before the last is no foreign key. Unlike {@link permittedPath}, it does not check whether a client may use the
 * path.
 */
export function followPath (model: Model, names: readonly string[]): Path | undefined {
  const joins: ForeignKeyColumn[] = []
  let reached = model
  for (const name of names.slice(0, -1)) {
    const column = reached.byName.get(name)
    if (!isForeignKey(column)) return undefined
    joins.push(column)
    reached = column.target()
  }
  const column = reached.byName.get(names.at(-1) ?? '')
  return column && { joins, column }
}

/**
 * Splits the name of a filter, such as `age__lt`, into the names of a path and an operator. A name without an operator
 * has the operator `eq`. This is possible because no field has the name of an operator.
 */
export function splitName (name: string): { names: readonly string[], operator: Operator } {
  const names = name.split('__')
  const operator = operatorByName.get(String(names.at(-1)))
  return operator === undefined ? { names, operator: 'eq' } : { names: names.slice(0, -1), operator }
}

/** Returns the name of a path, with fields as they were declared: `user__username` also for `user_id__username`. */
export function pathName ({ joins, column }: Path): string {
  return [...joins, column].map(({ field }) => field).join('__')
}

/**
 * Resolves a path, from the names of its foreign keys and its column, if a client may use it.
 *
 * @param closed  related models that the client may not list
 * @returns undefined alike for a name that does not exist, for one that is hidden, and for one behind a closed model
 */
export function permittedPath (access: Access, names: readonly string[], closed: ReadonlySet<Model>): Path | undefined {
  const path = followPath(access.model, names)
  if (path === undefined) return undefined
  for (const { target } of path.joins) if (closed.has(target())) return undefined
  return isOpen(access, path) || access.opened.has(pathName(path)) ? path : undefined
}

function isOpen (access: Access, { joins, column }: Path): boolean {
  let open: ReadonlySet<Column> | undefined = access.filterable
  for (const join of joins) {
    if (open?.has(join) !== true) return false
    open = access.related.get(join.target())
  }
  return open?.has(column) === true
}
