import { formatNames } from 'ajv-formats/dist/formats.js'
import { errors } from '../errors.js'
import type { OptionNames } from '../fields/field-kind-row.js'
import { fieldKinds } from '../fields/field-kinds.js'
import { unknownOption } from '../suggest.js'
import {
  digitsOf, maxFormatLength, maxLengthOf, maxPrecision, maxUniqueLength, type CommonOptions, type FieldOptions
} from '../values/field-options.js'
import { storableText } from '../values/values.js'
import { keyName, type Field } from './model.js'
import { notUnique } from './unique-together.js'

const commonOptions: OptionNames<CommonOptions<unknown>> = {
  nullable: true, default: true, unique: true, column: true, readOnly: true
}
const formats: readonly string[] = formatNames
const deletions: readonly string[] = ['restrict', 'cascade', 'set null']
const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
const { InvalidModel } = errors

/**
 * True if a name of a table or a column has the form that every engine takes: 1 to 60 ASCII letters, digits and
 * underscores, the first of which is no digit.
 */
export function isSqlName (name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,59}$/.test(name)
}

/** Throws REST_MODELS_INVALID_MODEL if {@link isSqlName} is false for a name. `where` begins the message. */
export function requireSqlName (name: string, where: string): void {
  if (isSqlName(name)) return
  throw new InvalidModel(`${where}: a name in the database consists of letters from A to Z, digits and underscores, ` +
    'at most 60, and begins with no digit')
}

/**
 * Checks the options of a field.
 *
 * @param where  names the field, at the beginning of messages
 * @param name   name of the field; only the primary key may have the option `clientGenerated`
 * @throws REST_MODELS_INVALID_MODEL
 */
export function checkOptions (where: string, name: string, { kind, options }: Field): void {
  const unknown = unknownOption(options, { ...commonOptions, ...fieldKinds[kind].options })
  if (unknown !== undefined) throw new InvalidModel(`${where} ${unknown}`)
  if (options.column !== undefined) requireSqlName(options.column, `${where}, column '${options.column}'`)
  if (options.clientGenerated !== undefined && name !== keyName) {
    throw new InvalidModel(`${where}: 'clientGenerated' is for the primary key '${keyName}' alone; ` +
      'clients may write this field without it')
  }
  if (options.unique !== undefined && notUnique.includes(kind)) {
    throw new InvalidModel(`${where}: a ${kind} cannot be unique; leave out 'unique'`)
  }
  const fault = optionFault(options) ?? originFault(options) ?? boundFault(options)
  if (fault !== undefined) throw new InvalidModel(`${where}: ${fault}`)
}

function optionFault ({ nullable, unique, onDelete, format, ...options }: FieldOptions): string | undefined {
  const { precision, scale } = digitsOf(options)
  if (format !== undefined && !formats.includes(format)) return `'format' is one of ${formatNames.join(', ')}`
  if (nullable !== undefined && typeof nullable !== 'boolean') return "'nullable' is true or false"
  if (unique !== undefined && typeof unique !== 'boolean') return "'unique' is true or false"
  if (options.default === null && nullable !== true) return "the default is null, but the field is not 'nullable'"
  if (onDelete !== undefined && !deletions.includes(onDelete)) {
    return "'onDelete' is 'restrict', 'cascade' or 'set null'"
  }
  if (onDelete === 'set null' && nullable !== true) return "onDelete 'set null' needs a field that is 'nullable'"
  if (!Number.isInteger(precision) || precision < 1 || precision > maxPrecision) {
    return `'precision' must be from 1 to ${maxPrecision}`
  }
  if (!Number.isInteger(scale) || scale < 0 || scale > precision) return "'scale' must be from 0 to 'precision'"
  return undefined
}

/** Returns the fault of an option that says where values come from, such as `generated`; undefined if there is none. */
function originFault (
  { generated, clientGenerated, onUpdate, readOnly, nullable, ...options }: FieldOptions
): string | undefined {
  if (generated !== undefined && typeof generated !== 'boolean') return "'generated' is true or false"
  if (clientGenerated !== undefined && typeof clientGenerated !== 'boolean') return "'clientGenerated' is true or false"
  if (readOnly !== undefined && typeof readOnly !== 'boolean') return "'readOnly' is true or false"
  if (readOnly === true && (options.default !== undefined || onUpdate !== undefined)) {
    return "a field with 'readOnly' has no 'default' and no 'onUpdate', because only the database gives it values"
  }
  if (onUpdate === undefined) return undefined
  if (onUpdate !== 'now') return "'onUpdate' is 'now'"
  return options.default === undefined && nullable !== true
    ? "a field with 'onUpdate' needs default: 'now', or must be 'nullable', because clients cannot write it"
    : undefined
}

function boundFault (options: FieldOptions): string | undefined {
  const { enum: choices } = options
  if (choices !== undefined && !(Array.isArray(choices) && choices.length > 0 && choices.every(isStorable))) {
    return "'enum' must be a list of at least one text, without NUL characters and broken surrogate pairs"
  }
  if (choices !== undefined && new Set(choices).size < choices.length) return "'enum' names a text twice"
  const length = (['minLength', 'maxLength'] as const).find((name) => !isUndefinedOr(options[name], isCount))
  if (length !== undefined) return `'${length}' must be a whole number of at least 0`
  const bound = (['minimum', 'maximum'] as const).find((name) => !isUndefinedOr(options[name], Number.isFinite))
  if (bound !== undefined) return `'${bound}' must be a finite number`
  if (options.unique === true && isAbove(options.maxLength, maxUniqueLength)) {
    return `'maxLength' of a unique text is at most ${maxUniqueLength}, because an engine cannot index longer texts`
  }
  if (options.format !== undefined && isAbove(options.maxLength, maxFormatLength)) {
    return `'maxLength' of a text with a 'format' is at most ${maxFormatLength}`
  }
  if (isAbove(options.minimum, options.maximum)) return "'minimum' is more than 'maximum'"
  const maxLength = maxLengthOf(options)
  if (isAbove(options.minLength, maxLength)) return `'minLength' is more than 'maxLength', which is ${maxLength}`
  return undefined
}

function isStorable (choice: unknown): boolean {
  return typeof choice === 'string' && storableText(choice) !== undefined
}

function isUndefinedOr (value: number | undefined, holds: (value: number) => boolean): boolean {
  return value === undefined || holds(value)
}

function isAbove (low: number | undefined, high: number | undefined): boolean {
  return low !== undefined && high !== undefined && low > high
}
