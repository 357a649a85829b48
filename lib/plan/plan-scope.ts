import { notNull, operators, type FilterSyntax, type Operator } from '../fields/operators.js'
import { isForeignKey, jsonTypeOf, valueKindOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { suggestion } from '../suggest.js'
import { ignoreRejection, requireNoPromises } from '../values/promises.js'
import { storableText, type Json } from '../values/values.js'
import { isUnfinished, parseValue } from './filter-values.js'
import { followPath, splitName } from './path.js'
import type { Scope, ScopeCondition } from './viewer.js'

/**
 * Returns the conditions that a deployer's function `scope` asks for. That function returns an object of filters, such
 * as `{ age__lt: 30 }`, or null for no record at all. `{}` permits every record.
 *
 * @throws TypeError if the function returned anything else, such as a promise, if a name is unknown, if a list has more
 *   than 16,384 values, or if a value is undefined or of a wrong type; without this, such a mistake could show all
 *   records
 */
export type PlanScope = (given: unknown) => Scope

/**
 * Returns the function that plans the scopes of a model. It resolves each name once, when a scope first has that name.
 */
export function compilePlanScope (model: Model): PlanScope {
  const targets = new Map<string, ScopeTarget>()
  const targetOf = (name: string, isNull: boolean): ScopeTarget => {
    const key = `${name} ${isNull}`
    const target = targets.get(key) ?? resolveName(model, name, isNull)
    targets.set(key, target)
    return target
  }
  const nothing: Scope = [{ path: { joins: [], column: model.primaryKey }, operator: 'in', values: [] }]
  return (given) => {
    if (given === null) return nothing
    if (!isPlainObject(given)) {
      ignoreRejection(given)
      throw wrong(model, 'must return an object with names of fields, or null, and no promise')
    }
    const filters: Array<[string, unknown]> = Object.entries(given)
    requireNoPromises(`The scope of model '${model.name}'`, filters)
    return filters.map(([name, value]) => planCondition(model, targetOf(name, value === null), value))
  }
}

/**
 * Maximum number of values in one list of a scope. Each is a parameter on PostgreSQL and MariaDB, which take at most
 * 65,535 in a statement. Several lists in one statement may exceed that, which is a 500.
 */
const maxListed = 16_384

/** A name in a scope, with the path and the operator that it stands for. */
interface ScopeTarget extends Pick<ScopeCondition, 'path' | 'operator'> {
  readonly name: string
}

/** True if a value is an object as `{}` makes it, or without a prototype: no array, promise or instance of a class. */
export function isPlainObject (given: unknown): given is object {
  return typeof given === 'object' && given !== null && [Object.prototype, null].includes(Object.getPrototypeOf(given))
}

/**
 * Returns the field and the operator for a key of a scope, such as `status__ne` or `project__owner`. A key without an
 * operator has the operator `eq`. If the value is null, `is` replaces `eq`, because nothing equals null in SQL.
 */
function resolveName (model: Model, name: string, isNull: boolean): ScopeTarget {
  const { names, operator: written } = splitName(name)
  const operator = isNull && written === 'eq' ? 'is' : written
  const path = followPath(model, names)
  if (path === undefined) {
    const [last, field] = [names.at(-1), followPath(model, names.slice(0, -1))?.column]
    if (field !== undefined && !isForeignKey(field)) throw wrong(model, withoutOperator(name, field, String(last)))
    throw wrong(model, `names '${name}', which leads to no field${suggestion(name, Object.keys(model.fields))}`)
  }
  const { operators: permitted } = valueKindOf(path.column)
  if (!permitted.includes(operator)) throw wrong(model, withoutOperator(name, path.column, operator))
  return { name, path, operator }
}

function withoutOperator (name: string, { field }: Column, operator: string): string {
  return `names '${name}', but '${field}' does not have the operator '${operator}'`
}

function planCondition (model: Model, { name, path, operator }: ScopeTarget, value: unknown): ScopeCondition {
  if (Array.isArray(value) && value.length > maxListed) {
    throw wrong(model, `gives more than ${maxListed} values for '${name}': name a field or a path that tells the same`)
  }
  const planned = planValues(path.column, operator, value)
  if (planned === undefined) {
    const wanted = expected[syntaxOf(operator)](path.column)
    throw wrong(model, `gives ${describeGiven(value)} for '${name}', which must be ${wanted}`)
  }
  return { path, ...planned }
}

function describeGiven (value: unknown): string {
  if (Array.isArray(value) && value.includes(null)) return 'a list with null'
  return value === undefined ? 'undefined' : 'a value of a wrong type'
}

function wrong ({ name }: Model, message: string): Error {
  return new TypeError(`The scope of model '${name}' ${message}`)
}

type Values = Pick<ScopeCondition, 'operator' | 'values'>

/**
 * Returns the typed values of a condition, and its operator: `in` instead of `eq` if the value is a list of none or
 * several values. Returns undefined if a value is wrong.
 */
function planValues (column: Column, operator: Operator, value: unknown): Values | undefined {
  const syntax = syntaxOf(operator)
  if (syntax === 'list' && !Array.isArray(value)) return undefined
  const given: readonly unknown[] = Array.isArray(value) ? value : [value]
  // An empty list matches no record with `eq` and `in`. With `ne` it would match every record, so it is refused.
  if (given.length === 0 && operator !== 'eq' && operator !== 'in') return undefined
  const values = given.map((item) => readers[syntax](item, column))
  if (!values.every((item) => item !== undefined)) return undefined
  const isList = operator === 'eq' && values.length !== 1
  return { operator: isList ? 'in' : operator, values }
}

function syntaxOf (operator: Operator): FilterSyntax {
  return operators[operator].syntax
}

/** Functions that describe what a value must be, by the syntax of its operator. */
const expected: Readonly<Record<FilterSyntax, (column: Column) => string>> = {
  value: (column) => valueKindOf(column).expects,
  list: (column) => `a list, and each value in it ${valueKindOf(column).expects}`,
  pattern: () => 'a pattern that does not end with a single backslash',
  constant: ({ kind }) => kind === 'boolean' ? "null, 'notnull', true or false" : "null or the text 'notnull'"
}

/**
 * Readers of values, by the syntax of the operator. A reader returns the typed value, or undefined if the value is
 * wrong.
 */
const readers = {
  value: readValue,
  list: readValue,
  pattern: (value: unknown) =>
    typeof value === 'string' && !isUnfinished(value) ? storableText(value) : undefined,
  constant: (value: unknown, { kind }: Column) =>
    value === null || value === notNull || (kind === 'boolean' && typeof value === 'boolean') ? value : undefined
}

function readValue (value: unknown, column: Column): Json | undefined {
  const type = typeof value
  return type === jsonTypeOf(column) ? parseValue(column, String(value)) : undefined
}
