import { errors, type FieldFault } from '../errors.js'
import { isNow, type Column } from '../model/column.js'
import { fieldKinds } from '../vocabulary/field-kinds.js'
import type { Json } from '../vocabulary/values.js'

/** The value of a field that a create left out: its default, or null. */
export function defaultOf (column: Column, now: Date): Json {
  const { default: declared } = column.options
  if (declared === undefined || declared === null) return null
  const value = fieldKinds[column.kind].accept(givenValue(column, declared, now), column.options)
  if (value === undefined) throw new TypeError(`The default of '${column.field}' must be ${fieldKinds[column.kind].expects}`)
  return value
}

function givenValue (column: Column, declared: unknown, now: Date): Json {
  if (typeof declared === 'function') return declared() as Json
  const { now: current } = fieldKinds[column.kind]
  return declared === 'now' && current !== undefined ? current(now) : declared as Json
}

/**
 * Checks the defaults that are known at setup.
 *
 * @throws REST_MODELS_INVALID_MODEL naming the model and the field
 */
export function requireSoundDefaults (model: string, columns: readonly Column[], check: (values: object) => readonly FieldFault[]): void {
  for (const column of columns) {
    const { default: declared } = column.options
    if (declared === undefined || declared === null || isNow(column) || typeof declared === 'function') continue
    const [fault] = check({ [column.key]: declared })
    const isStorable = fault === undefined && fieldKinds[column.kind].accept(declared as Json, column.options) !== undefined
    if (!isStorable) {
      const message = fault?.message ?? `must be ${fieldKinds[column.kind].expects}`
      throw new errors.InvalidModel(`field '${column.field}' of model '${model}': the default ${message}`)
    }
  }
}
