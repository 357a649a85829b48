import { isDeepStrictEqual } from 'node:util'
import type { Stored } from '../engines/storage.js'
import { errors, withDetails } from '../errors.js'
import { isOperator, type Operator } from '../fields/operators.js'
import { valueKindOf } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { WrittenFilter } from '../request/list-query.js'
import { unknownParameter } from '../request/query-string.js'
import { readFilterValues } from './filter-values.js'
import { baseAlias, type PlannedCondition, type PlannedJoin } from './list-plan.js'
import type { ListScope } from './list-scope.js'
import { permittedPath, type Path } from './path.js'

interface ResolvedFilter {
  readonly path: Path
  readonly operator: Operator
  /** The path as the client spelled it. */
  readonly spelling: string
}

/** A condition, with the values that were given for each spelling of its path. */
interface Spelled extends Omit<PlannedCondition, 'values'> {
  readonly given: Map<string, readonly Stored[]>
}

const noFilters = Object.freeze({ joins: [], conditions: [] })

/** Plans the joins and conditions of the filters. Filters of one path and operator become one condition. */
export function planFilters (scope: ListScope, filters: readonly WrittenFilter[], closed: ReadonlySet<Model>): {
  readonly joins: readonly PlannedJoin[]
  readonly conditions: readonly PlannedCondition[]
} {
  if (filters.length === 0) return noFilters
  const { filters: most, totalJoins } = scope.limits
  const surplus = filters[most]
  if (surplus !== undefined) throw tooMuch(surplus.name, `is more than ${most} filters`)
  const joins = new Map<string, PlannedJoin>()
  const conditions = new Map<string, Spelled>()
  for (const filter of filters) {
    const { path, operator, spelling } = resolveFilter(scope, filter.name, closed)
    const { column } = path
    const values = readFilterValues(filter, { column, operator }, scope)
    const alias = planJoins(joins, path)
    if (joins.size > totalJoins) throw tooMuch(filter.name, `needs more than ${totalJoins} joins in all`)
    const name = `${alias}.${column.key} ${operator}`
    const condition = conditions.get(name) ?? { alias, column, operator, given: new Map<string, readonly Stored[]>() }
    condition.given.set(spelling, [...condition.given.get(spelling) ?? [], ...values])
    conditions.set(name, condition)
  }
  return { joins: [...joins.values()], conditions: [...conditions.values()].map(toCondition) }
}

function resolveFilter (scope: ListScope, name: string, closed: ReadonlySet<Model>): ResolvedFilter {
  const { limits } = scope
  const { names, operator } = splitName(name)
  if (names.length - 1 > limits.joins) throw tooMuch(name, `follows more than ${limits.joins} foreign keys`)
  const path = permittedPath(scope, names, closed)
  if (path === undefined) throw unknownName(name, permittedPath(scope, names.slice(0, -1), closed))
  if (!valueKindOf(path.column).operators.includes(operator)) throw unknownOperator(name)
  return { path, operator, spelling: names.join('__') }
}

/** Splits a parameter's name into a path and an operator. It can do so because no field has the name of an operator. */
function splitName (name: string): { names: readonly string[], operator: Operator } {
  const names = name.split('__')
  const last = names.at(-1)
  return last !== undefined && isOperator(last)
    ? { names: names.slice(0, -1), operator: last }
    : { names, operator: 'eq' }
}

/**
 * Adds the joins of a path to `joins`, if they are not there yet. Returns the alias of the table that the path ends in.
 */
function planJoins (joins: Map<string, PlannedJoin>, { joins: columns }: Path): string {
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
 * Returns the condition of a path. All its spellings must give the same values, or it throws REST_MODELS_INVALID_VALUE
 * (400): `user=1&user_id=1` says one thing twice, but `user=1&user_id=2` contradicts itself.
 */
function toCondition ({ given, alias, column, operator }: Spelled): PlannedCondition {
  const [values = []] = given.values()
  const wrong = [...given].slice(1).find(([, others]) => !isDeepStrictEqual(new Set(others), new Set(values)))
  if (wrong !== undefined) {
    const [field] = wrong
    throw withDetails(new errors.InvalidValue(field), [{ field, message: 'contradicts another spelling of its name' }])
  }
  return { alias, column, operator, values }
}

/**
 * Returns the error for a name that leads nowhere. If it goes on behind a permitted column that is no foreign key, its
 * last part can only be meant as an operator.
 */
function unknownName (name: string, shorter: Path | undefined): Error {
  return shorter === undefined || shorter.column.target !== undefined ? unknownParameter(name) : unknownOperator(name)
}

function unknownOperator (name: string): Error {
  const message = 'asks for an operator that its field does not have'
  return withDetails(new errors.UnknownOperator(name), [{ field: name, message }])
}

function tooMuch (field: string, message: string): Error {
  return withDetails(new errors.TooMuch(field), [{ field, message }])
}
