import { errors } from '../errors.js'
import { isNow, valueKindOf, type Column } from '../model/column.js'
import type { Check } from './read-fields.js'
import type { Json } from '../vocabulary/values.js'

/**
 * The value of a field that a create left out: its default, or null.
 *
 * @throws TypeError if a function gave what the field cannot hold
 */
export function defaultOf (column: Column, now: Date, check: Check): Json {
  const { default: declared } = column.options
  if (declared === undefined || declared === null) return null
  const given = givenValue(column, declared, now)
  const fault = faultOf(column, given, check)
  if (fault !== undefined) throw new TypeError(`The default of field '${column.field}' ${fault}`)
  return valueKindOf(column).accept(given, column.options) as Json
}

function faultOf (column: Column, value: Json, check: Check): string | undefined {
  const [fault] = check({ [column.key]: value })
  if (fault !== undefined) return fault.message
  return valueKindOf(column).accept(value, column.options) === undefined ? `must be ${valueKindOf(column).expects}` : undefined
}

function givenValue (column: Column, declared: unknown, now: Date): Json {
  if (typeof declared === 'function') return declared() as Json
  const { now: current } = valueKindOf(column)
  return declared === 'now' && current !== undefined ? current(now) : declared as Json
}

/**
 * Checks the defaults that are known at setup.
 *
 * @throws REST_MODELS_INVALID_MODEL naming the model and the field
 */
export function requireSoundDefaults (model: string, columns: readonly Column[], check: Check): void {
  for (const column of columns) {
    const { default: declared } = column.options
    if (declared === undefined || declared === null || isNow(column) || typeof declared === 'function') continue
    const fault = faultOf(column, declared as Json, check)
    if (fault !== undefined) throw new errors.InvalidModel(`field '${column.field}' of model '${model}': the default ${fault}`)
  }
}
