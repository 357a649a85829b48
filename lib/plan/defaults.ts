import { errors, type Check } from '../errors.js'
import { acceptDefault, acceptValue, isNow, valueKindOf, type Column } from '../model/column.js'
import { requireNoPromises } from '../values/promises.js'
import type { Json } from '../values/values.js'

/**
 * Returns the fault of a value of a column, in words that follow the field's name, such as 'must be …'; undefined if
 * the value is right.
 */
export type CheckValue = (value: unknown) => string | undefined

/**
 * Returns the value of a field that a create left out: its default, or null if it has none. It returns null even for a
 * field that is not nullable, because the hook `beforeWrite` may set the value later.
 *
 * @throws TypeError if the function that makes the default gives a value that the field cannot hold, or a promise
 */
export function defaultOf (column: Column, now: Date, check: Check): Json {
  const { default: declared } = column.options
  if (declared === undefined || declared === null) return null
  if (isNow(column)) return momentFor(column, now)
  if (typeof declared !== 'function') return acceptDefault(column, declared)
  const given: unknown = declared()
  requireNoPromises('The default', [[column.field, given]])
  if (given === null && column.nullable) return null
  const fault = faultOf(column, given, (value) => check({ [column.key]: value })[0]?.message)
  if (fault !== undefined) throw new TypeError(`The default of field '${column.field}' ${fault}`)
  return acceptDefault(column, given)
}

/** Returns a moment as the JSON value of a datetime or date column. */
export function momentFor (column: Column, moment: Date): Json {
  return valueKindOf(column).now?.(moment) as Json
}

/**
 * Checks the defaults that are declared as values. A default that a function makes is checked by {@link defaultOf} at
 * each create that leaves the field out.
 *
 * @throws REST_MODELS_INVALID_MODEL naming the model and the field
 */
export function requireSoundDefaults (
  model: string, columns: readonly Column[], checkOf: (column: Column) => CheckValue
): void {
  for (const column of columns) {
    const { default: declared } = column.options
    if (declared === undefined || declared === null || isNow(column) || typeof declared === 'function') continue
    const fault = faultOf(column, declared, checkOf(column))
    if (fault !== undefined) {
      throw new errors.InvalidModel(`field '${column.field}' of model '${model}': the default ${fault}`)
    }
  }
}

function faultOf (column: Column, value: unknown, check: CheckValue): string | undefined {
  const isHeld = (): boolean => acceptValue(column, value) !== undefined
  return check(value) ?? (isHeld() ? undefined : `must be ${valueKindOf(column).expects}`)
}
