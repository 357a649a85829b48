import { isForeignKey, type Column, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Limits } from './limits.js'

/** The records of a model as they are shown in those that refer to them. */
export interface ShownModel {
  /** Name of the model's first resource; that of the model in lower case if it has none. */
  readonly name: string
  /** Columns that the first resource shows; the primary key alone if there is none. */
  readonly visible: readonly Column[]
  /** False if nobody may list the first resource, so that nobody may include its records. */
  readonly isListed: boolean
}

/** A resource, as far as it decides which related records stand in its records. */
export interface IncludeScope {
  readonly model: Model
  /** Columns that records show. */
  readonly visible: readonly Column[]
  /** The models that foreign keys lead to, directly or through others. */
  readonly shown: ReadonlyMap<Model, ShownModel>
  readonly limits: Limits
}

/** Returns the foreign keys that declared names lead through; undefined alike if there is none and if one is hidden. */
export function permittedIncludes (
  scope: IncludeScope, fields: readonly string[], closed: ReadonlySet<Model>
): readonly ForeignKeyColumn[] | undefined {
  const path: ForeignKeyColumn[] = []
  for (const field of fields) {
    const column = shownBehind(scope, path).find((column) => column.field === field)
    if (!isForeignKey(column) || closed.has(column.target())) return undefined
    path.push(column)
  }
  return path
}

/** Returns the foreign keys that may be included behind a path. */
function referencesOf (
  scope: IncludeScope, path: readonly ForeignKeyColumn[], closed: ReadonlySet<Model>
): readonly ForeignKeyColumn[] {
  return shownBehind(scope, path).filter(isForeignKey).filter(({ target }) => !closed.has(target()))
}

/** Returns the columns that are shown behind a path; those of the resource itself if the path is empty. */
function shownBehind ({ visible, shown }: IncludeScope, path: readonly ForeignKeyColumn[]): readonly Column[] {
  const last = path.at(-1)
  return last === undefined ? visible : visibleOf(shown, last)
}

/** Returns the columns that are shown of the records that a foreign key refers to. */
export function visibleOf (shown: IncludeScope['shown'], { target }: ForeignKeyColumn): readonly Column[] {
  return (shown.get(target()) as ShownModel).visible
}

/** Yields the names of the related records that may be included, the nearest first. Circles end at `limits.joins`. */
export function * includeNames (scope: IncludeScope, closed: ReadonlySet<Model>): Generator<string> {
  let paths: ReadonlyArray<readonly ForeignKeyColumn[]> = [[]]
  const { joins, totalJoins } = scope.limits
  for (let depth = 1; depth <= Math.min(joins, totalJoins); depth++) {
    const longer: Array<readonly ForeignKeyColumn[]> = []
    for (const path of paths) {
      for (const column of referencesOf(scope, path, closed)) {
        longer.push([...path, column])
        yield [...path, column].map(({ field }) => field).join('__')
      }
    }
    paths = longer
  }
}
