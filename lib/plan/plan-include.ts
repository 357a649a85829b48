import { errors, fieldError, shownName } from '../errors.js'
import type { ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { ListRequest } from '../request/list-query.js'
import { firstCandidates, typoSuggestion } from '../suggest.js'
import { baseAlias, type PlannedInclude } from './list-plan.js'
import { followPath, splitName, type Path } from './path.js'
import { includeNames, permittedIncludes, visibleOf, type IncludeRules } from './permitted-includes.js'
import type { ListViewer } from './viewer.js'

/**
 * Plans the related records that `include` names. A path also includes the records on its way: `project__company`
 * includes `project`.
 *
 * @param wanted  the request, whose filters are already checked; a join that filters and `include` share counts once
 * @throws REST_MODELS_INVALID_INCLUDE (400) if the client may not include a path; REST_MODELS_TOO_MUCH (400) if one
 *   path or all joins exceed a limit, or if all records together have more than {@link maxColumns} columns
 */
export function planIncludes (
  rules: IncludeRules, { include, filters }: Pick<ListRequest, 'include' | 'filters'>, viewer: ListViewer
): readonly PlannedInclude[] {
  const { joins, totalJoins } = rules.limits
  const includes = new Map<string, PlannedInclude>()
  const joined = joinsOf(rules.model, filters)
  for (const written of include) {
    const fields = written.split('__')
    if (fields.length > joins) throw tooMuch(`follows more than ${joins} foreign keys in '${shownName(written)}'`)
    const path = permittedIncludes(rules, fields, viewer.closed)
    if (path === undefined) throw unknownInclude(rules, written, viewer.closed)
    addPath(rules, path, { includes, viewer })
    for (const name of includes.keys()) joined.add(name)
    if (joined.size > totalJoins) throw tooMuch(`needs more than ${totalJoins} joins in all, with those of the filters`)
  }
  return withFewColumns(rules, [...includes.values()])
}

/** Columns that every engine can select in one statement. PostgreSQL selects at most 1,664, the orderings included. */
const maxColumns = 1600

function withFewColumns (
  { visible }: IncludeRules, includes: readonly PlannedInclude[]
): readonly PlannedInclude[] {
  const columns = includes.reduce((sum, include) => sum + include.visible.length, visible.length)
  if (columns > maxColumns) throw tooMuch(`needs more than ${maxColumns} columns in all`)
  return includes
}

/** Returns the names of the joins that filters need, such as `user` and `user__company`. */
function joinsOf (model: Model, filters: ListRequest['filters']): Set<string> {
  return new Set(filters.flatMap(({ name }) => {
    const { joins } = followPath(model, splitName(name).names) as Path
    const fields = joins.map(({ field }) => field)
    return fields.map((_field, index) => fields.slice(0, index + 1).join('__'))
  }))
}

function addPath (
  { shown }: IncludeRules, path: readonly ForeignKeyColumn[],
  { includes, viewer }: { readonly includes: Map<string, PlannedInclude>, readonly viewer: ListViewer }
): void {
  let from = baseAlias
  let name = ''
  for (const column of path) {
    name += name === '' ? column.field : `__${column.field}`
    const include = includes.get(name) ?? {
      path: name,
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

function unknownInclude (rules: IncludeRules, written: string, closed: ReadonlySet<Model>): Error {
  const known = firstCandidates(includeNames(rules, closed))
  return fieldError(errors.InvalidInclude, 'include',
    `must be foreign keys by their declared names, separated by commas; '${shownName(written)}' is not one ` +
    `that this resource can include${typoSuggestion(written, known)}`)
}

function tooMuch (message: string): Error {
  return fieldError(errors.TooMuch, 'include', message)
}
