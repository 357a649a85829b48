import { isForeignKey, type Column, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { valueAt } from '../values/lookup.js'
import type { Limits } from './limits.js'

/** The records of a model, as `include` shows them in the records that refer to them. */
export interface ShownModel {
  /** Name of the model's first registered resource. If the model has no resource, the model's name in lower case. */
  readonly name: string
  /** Columns that the model's first registered resource shows. If the model has no resource, the primary key alone. */
  readonly visible: readonly Column[]
  /**
   * True if somebody may list the model's first registered resource, or if the model has no resource. If it is false,
   * nobody may include records of the model.
   */
  readonly isListed: boolean
}

/** Rules of a resource that decide which related records `include` may add to its records. */
export interface IncludeRules {
  readonly model: Model
  /** Columns that records show. */
  readonly visible: readonly Column[]
  /** The models of all resources, and those that their foreign keys lead to, directly or through other models. */
  readonly shown: ReadonlyMap<Model, ShownModel>
  readonly limits: Limits
}

/**
 * Resolves a path in `include` to foreign keys. Returns undefined if a name is not the declared name of a foreign key
 * that records show: `user` is one, `user_id` is not.
 *
 * @param closed  related models that the client may not list; the result is undefined if the path leads to one of them
 */
export function permittedIncludes (
  rules: IncludeRules, fields: readonly string[], closed: ReadonlySet<Model>
): readonly ForeignKeyColumn[] | undefined {
  const path: ForeignKeyColumn[] = []
  for (const field of fields) {
    const column = shownBehind(rules, path).find((column) => column.field === field)
    if (!isForeignKey(column) || closed.has(column.target())) return undefined
    path.push(column)
  }
  return path
}

/** Returns the foreign keys that `include` may follow from the model at the end of a path. */
function referencesOf (
  rules: IncludeRules, path: readonly ForeignKeyColumn[], closed: ReadonlySet<Model>
): readonly ForeignKeyColumn[] {
  return shownBehind(rules, path).filter(isForeignKey).filter(({ target }) => !closed.has(target()))
}

/** Returns the columns that are shown of the model at the end of a path. An empty path ends at the resource itself. */
function shownBehind ({ visible, shown }: IncludeRules, path: readonly ForeignKeyColumn[]): readonly Column[] {
  const last = path.at(-1)
  return last === undefined ? visible : visibleOf(shown, last)
}

/** Returns the columns that are shown of the records that a foreign key refers to. */
export function visibleOf (shown: IncludeRules['shown'], { target }: ForeignKeyColumn): readonly Column[] {
  return valueAt(shown, target()).visible
}

/**
 * Yields the names that `include` may have, such as `user__company`, the shortest paths first. The limits on joins
 * bound the length of a path, because foreign keys may form a circle. Each further key may multiply the number of
 * paths, so the caller may have to stop early.
 *
 * @param isWanted  is called with the last foreign key of each path; false leaves out the path and those that it begins
 */
export function * includeNames (
  rules: IncludeRules, closed: ReadonlySet<Model>, isWanted: (column: ForeignKeyColumn) => boolean = () => true
): Generator<string> {
  let paths: ReadonlyArray<readonly ForeignKeyColumn[]> = [[]]
  const { joins, totalJoins } = rules.limits
  for (let depth = 1; depth <= Math.min(joins, totalJoins); depth++) {
    const longer: Array<readonly ForeignKeyColumn[]> = []
    for (const path of paths) {
      for (const column of referencesOf(rules, path, closed).filter(isWanted)) {
        longer.push([...path, column])
        yield [...path, column].map(({ field }) => field).join('__')
      }
    }
    paths = longer
  }
}
