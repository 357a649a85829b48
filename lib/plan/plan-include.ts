import { errors, shownName, withDetails } from '../errors.js'
import { isForeignKey, type Column, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { ListRequest } from '../request/list-query.js'
import { typoSuggestion } from '../suggest.js'
import type { Limits } from './limits.js'
import { baseAlias, type PlannedInclude } from './list-plan.js'
import { followPath, splitName, type Path } from './path.js'
import type { ListViewer } from './viewer.js'

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

/**
 * Plans the related records that `include` names. A path brings those before it: `project__company` brings `project`.
 *
 * @param wanted  its filters are known to be right; a path that they need as well counts once against the limits
 * @throws REST_MODELS_INVALID_INCLUDE, REST_MODELS_TOO_MUCH (both 400)
 */
export function planIncludes (
  scope: IncludeScope, { include, filters }: Pick<ListRequest, 'include' | 'filters'>, viewer: ListViewer
): readonly PlannedInclude[] {
  const { joins, totalJoins } = scope.limits
  const includes = new Map<string, PlannedInclude>()
  const joined = joinsOf(scope.model, filters)
  for (const written of include) {
    const fields = written.split('__')
    if (fields.length > joins) throw tooMuch(`follows more than ${joins} foreign keys in '${shownName(written)}'`)
    const path = permittedIncludes(scope, fields, viewer.closed)
    if (path === undefined) throw unknownInclude(scope, written, viewer.closed)
    addPath(scope, path, { includes, viewer })
    for (const name of includes.keys()) joined.add(name)
    if (joined.size > totalJoins) throw tooMuch(`needs more than ${totalJoins} joins in all, with those of the filters`)
  }
  return withFewColumns(scope, [...includes.values()])
}

/** Columns that every engine can select in one statement. PostgreSQL selects at most 1,664, the orderings included. */
const maxColumns = 1600

function withFewColumns (
  { visible }: IncludeScope, includes: readonly PlannedInclude[]
): readonly PlannedInclude[] {
  const columns = includes.reduce((sum, include) => sum + include.visible.length, visible.length)
  if (columns > maxColumns) throw tooMuch(`needs more than ${maxColumns} columns in all`)
  return includes
}

/** Returns the names of the joins that filters need. */
function joinsOf (model: Model, filters: ListRequest['filters']): Set<string> {
  return new Set(filters.flatMap(({ name }) => {
    const { joins } = followPath(model, splitName(name).names) as Path
    const fields = joins.map(({ field }) => field)
    return fields.map((_field, index) => fields.slice(0, index + 1).join('__'))
  }))
}

/** Returns the foreign keys that declared names lead through; undefined alike if there is none and if one is hidden. */
function permittedIncludes (
  scope: IncludeScope, fields: readonly string[], closed: ReadonlySet<Model>
): readonly ForeignKeyColumn[] | undefined {
  const path: ForeignKeyColumn[] = []
  for (const field of fields) {
    const column = referencesOf(scope, path, closed).find((column) => column.field === field)
    if (column === undefined) return undefined
    path.push(column)
  }
  return path
}

/** Returns the foreign keys that may be included behind a path; those of the resource itself if the path is empty. */
function referencesOf (
  { visible, shown }: IncludeScope, path: readonly ForeignKeyColumn[], closed: ReadonlySet<Model>
): readonly ForeignKeyColumn[] {
  const last = path.at(-1)
  const columns = last === undefined ? visible : visibleOf(shown, last)
  return columns.filter(isForeignKey).filter(({ target }) => !closed.has(target()))
}

/** Returns the columns that are shown of the records that a foreign key refers to. */
function visibleOf (shown: IncludeScope['shown'], { target }: ForeignKeyColumn): readonly Column[] {
  return (shown.get(target()) as ShownModel).visible
}

function addPath (
  { shown }: IncludeScope, path: readonly ForeignKeyColumn[],
  { includes, viewer }: { readonly includes: Map<string, PlannedInclude>, readonly viewer: ListViewer }
): void {
  let from = baseAlias
  let name = ''
  for (const column of path) {
    name += name === '' ? column.field : `__${column.field}`
    const include = includes.get(name) ?? {
      alias: `i${includes.size + 1}`,
      from,
      column,
      visible: visibleOf(shown, column),
      scope: viewer.scopeOf(column.target())
    }
    includes.set(name, include)
    from = include.alias
  }
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

/** Names that are compared with one that leads nowhere: few enough for every wrong request. */
const maxCompared = 200

function unknownInclude (scope: IncludeScope, written: string, closed: ReadonlySet<Model>): Error {
  const known: string[] = []
  for (const name of includeNames(scope, closed)) if (known.push(name) === maxCompared) break
  return withDetails(new errors.InvalidInclude('include'), [{
    field: 'include',
    message: `must be foreign keys by their declared names, separated by commas; '${shownName(written)}' is not one ` +
      `that this resource can include${typoSuggestion(written, known)}`
  }])
}

function tooMuch (message: string): Error {
  return withDetails(new errors.TooMuch('include'), [{ field: 'include', message }])
}
