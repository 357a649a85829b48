import { isDeepStrictEqual } from 'node:util'
import type { Stored } from '../engines/storage.js'
import { errors, fieldError } from '../errors.js'
import type { Operator } from '../fields/operators.js'
import { valueKindOf } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { WrittenFilter } from '../request/list-query.js'
import { readFilterValues, storedValues } from './filter-values.js'
import { baseAlias, type PlannedCondition, type PlannedJoin } from './list-plan.js'
import type { ListRules } from './list-rules.js'
import { permittedPath, splitName, type Path } from './path.js'
import { unknownName, unknownOperator } from './unknown-filter.js'
import { scopeThrough, unscoped, type ListViewer, type Scope } from './viewer.js'

interface ResolvedFilter {
  readonly path: Path
  readonly operator: Operator
  /** The path as the client spelled it. */
  readonly spelling: string
}

/** A condition, with the values that were given for each spelling of its path, such as `user` and `user_id`. */
interface Spelled extends Omit<PlannedCondition, 'values'> {
  readonly given: Map<string, readonly Stored[]>
}

/** The joins of a list. Each key has the fields of the foreign keys to follow, with a space after each field. */
type Joins = Map<string, PlannedJoin>

interface PlannedFilters {
  readonly joins: readonly PlannedJoin[]
  readonly conditions: readonly PlannedCondition[]
}

const noFilters: PlannedFilters = Object.freeze({ joins: [], conditions: [] })

/**
 * Plans the joins and conditions of the filters and of the scopes. A scope is the conditions under which the user may
 * see the records of a model. The scope of the resource applies, and the scope of each related model that a filter
 * leads through. Filters with the same path and operator become one condition, which has the values of all these
 * filters. Joins and conditions of scopes do not count towards the limits.
 *
 * @throws REST_MODELS_UNKNOWN_PARAMETER, REST_MODELS_UNKNOWN_OPERATOR, REST_MODELS_INVALID_VALUE, REST_MODELS_TOO_MUCH
 *   (all 400), naming the filter
 */
export function planFilters (rules: ListRules, filters: readonly WrittenFilter[], viewer: ListViewer): PlannedFilters {
  if (filters.length === 0 && viewer.scope.length === 0) return noFilters
  const joins: Joins = new Map()
  const { paths, conditions } = planWanted(rules, filters, { joins, closed: viewer.closed })
  const isUnscoped = viewer.scope.length === 0 && viewer.scopeOf === unscoped.scopeOf
  if (isUnscoped) return { joins: [...joins.values()], conditions }
  const seen = [...viewer.scope, ...scopesAlong(paths, viewer)].map(({ path, operator, values }) => {
    const { column } = path
    const stored = storedValues({ column, operator, values }, rules.reader.dialect)
    return { alias: planJoins(joins, path), column, operator, values: stored }
  })
  return { joins: [...joins.values()], conditions: [...seen, ...conditions] }
}

/**
 * Plans the paths and conditions of the filters, without those of scopes. Adds the joins of the filters to `joins`.
 * Throws REST_MODELS_TOO_MUCH (400) if the filters exceed a limit, and other errors (400) if a filter is wrong.
 */
function planWanted (
  rules: ListRules, filters: readonly WrittenFilter[],
  { joins, closed }: { readonly joins: Joins, readonly closed: ReadonlySet<Model> }
): { readonly paths: readonly Path[], readonly conditions: readonly PlannedCondition[] } {
  const { filters: most, totalJoins } = rules.limits
  const surplus = filters[most]
  if (surplus !== undefined) throw tooMuch(surplus.name, `is more than ${most} filters`)
  const paths: Path[] = []
  const conditions = new Map<string, Spelled>()
  for (const filter of filters) {
    const { path, operator, spelling } = resolveFilter(rules, filter.name, closed)
    const { column } = path
    const values = readFilterValues(filter, { column, operator }, rules)
    const alias = planJoins(joins, path)
    if (joins.size > totalJoins) throw tooMuch(filter.name, `needs more than ${totalJoins} joins in all`)
    const name = `${alias}.${column.key} ${operator}`
    const condition = conditions.get(name) ?? { alias, column, operator, given: new Map<string, readonly Stored[]>() }
    condition.given.set(spelling, [...condition.given.get(spelling) ?? [], ...values])
    conditions.set(name, condition)
    paths.push(path)
  }
  return { paths, conditions: [...conditions.values()].map(toCondition) }
}

/**
 * Returns the conditions under which the user may see the related records that the paths of filters lead through. They
 * are returned as conditions on the resource's own records. If several paths begin with the same foreign keys, the
 * conditions on the records to which these lead are returned only once.
 */
function scopesAlong (paths: readonly Path[], viewer: ListViewer): Scope {
  const scopes = new Map<string, Scope>()
  for (const { joins } of paths) {
    for (const [index, { target }] of joins.entries()) {
      const prefix = joins.slice(0, index + 1)
      const name = prefix.map(({ field }) => field).join(' ')
      if (!scopes.has(name)) scopes.set(name, scopeThrough(prefix, viewer.scopeOf(target())))
    }
  }
  return [...scopes.values()].flat()
}

function resolveFilter (rules: ListRules, name: string, closed: ReadonlySet<Model>): ResolvedFilter {
  const { limits } = rules
  const { names, operator } = splitName(name)
  if (names.length - 1 > limits.joins) throw tooMuch(name, `follows more than ${limits.joins} foreign keys`)
  const path = permittedPath(rules, names, closed)
  if (path === undefined) throw unknownName(rules, name, closed)
  if (!valueKindOf(path.column).operators.includes(operator)) throw unknownOperator(name, path.column)
  return { path, operator, spelling: names.join('__') }
}

/**
 * Adds the joins of a path to `joins`, if they are not there yet. Returns the alias of the table that the path ends in.
 */
function planJoins (joins: Joins, { joins: columns }: Path): string {
  let alias = baseAlias
  let name = ''
  for (const column of columns) {
    name += `${column.field} `
    const join = joins.get(name) ?? { alias: `t${joins.size + 1}`, from: alias, column, table: column.target().table }
    joins.set(name, join)
    alias = join.alias
  }
  return alias
}

/**
 * Returns the condition of a path. Throws REST_MODELS_INVALID_VALUE (400) if two spellings of the path have different
 * values: `user=1&user_id=1` says one thing twice, but `user=1&user_id=2` contradicts itself.
 */
function toCondition ({ given, alias, column, operator }: Spelled): PlannedCondition {
  const [values = []] = given.values()
  const wrong = [...given].slice(1).find(([, others]) => !isDeepStrictEqual(new Set(others), new Set(values)))
  if (wrong !== undefined) {
    const [field] = wrong
    throw fieldError(errors.InvalidValue, field, 'contradicts another spelling of its name')
  }
  return { alias, column, operator, values }
}

function tooMuch (field: string, message: string): Error {
  return fieldError(errors.TooMuch, field, message)
}
