import type { CheckCompiler } from '../../../schemas/check.js'
import { valueSchema } from '../../../schemas/shapes.js'
import type { Handle } from '../../database/engine.js'
import { isYes, type ColumnRow } from '../../engines/catalog.js'
import type { StorageName } from '../../engines/storage.js'
import { messageOf } from '../../errors.js'
import { defineModel } from '../../model/define-model.js'
import { keyName, type Field, type Model } from '../../model/model.js'
import { requireSoundDefaults } from '../../plan/defaults.js'
import { maxUniqueLength } from '../../values/field-options.js'
import type { Json } from '../../values/values.js'
import { defaultValue, expression } from './default-values.js'
import type { FieldPlan, Note } from './model-plan.js'

/**
 * Primary keys for the model that {@link faultOf} defines to test a field. They replace a real key of several columns.
 * The first one has the column `id`. The second one has the column `key`, for a field whose own column is `id`.
 */
const standIns: readonly [Field, Field] = [{ kind: 'key', options: {} }, { kind: 'key', options: { column: 'key' } }]

/** Database of a table, its key, checks and notes, for planning the option `default` of its fields. */
export interface DefaultSetting {
  readonly handle: Handle
  /** The primary key of the table; undefined if it has several columns. */
  readonly key: FieldPlan | undefined
  /** Compiles the check that a default fits its field. */
  readonly checks: CheckCompiler
  /** Gets a note if the default cannot be part of the model; `introspect` shows the notes to its user. */
  readonly notes: Note[]
}

/** A column of the database, for which a field is planned. */
export interface Source {
  readonly column: ColumnRow
  /** The kind of the values. For a foreign key `uuid`, `text` or `integer`, as the primary key that it refers to. */
  readonly values: StorageName
}

/**
 * Returns the field with the default of its column, if the field can declare that default as a value. Otherwise returns
 * it without a default, and adds a note to `setting.notes` in two cases: the column has a default, or it takes no null
 * although the field is nullable. Password fields and read-only fields get neither a default nor a note. Returns the
 * reason as a text if the column cannot be a field at all.
 */
export function withDefault (plan: FieldPlan, source: Source, setting: DefaultSetting): FieldPlan | string {
  const { column, values } = source
  const limited = withinUnique(plan)
  const fault = faultOf(limited, values, setting)
  if (fault !== undefined) return fault
  const hasNone = plan.kind === 'password' || plan.options.readOnly === true
  const value = hasNone ? undefined : defaultValue(values, standardDefault(column, setting))
  if (value !== undefined && value !== expression) {
    const complete = { ...limited, options: { ...limited.options, default: value } }
    if (isKept(value, complete, source, setting) && faultOf(complete, values, setting) === undefined) return complete
  }
  const why = hasNone ? undefined : whenAbsent(plan, column, value !== undefined)
  if (why !== undefined) setting.notes.push({ table: column.table, column: column.name, why })
  return limited
}

/**
 * True if the column stores a default as the API would write it. Otherwise each create without the field would be a
 * 409: for example, if the default of a `real` has more digits than records show.
 */
function isKept (
  value: Json, { options }: FieldPlan, { column, values }: Source, { handle: { dialect: { storage } } }: DefaultSetting
): boolean {
  const { [values]: plain } = storage
  const { alters } = plain.ofType?.(column, options) ?? plain
  return alters?.(value) !== true
}

/** Returns the default of a column as standard SQL; null if it has none. */
function standardDefault (
  { declared }: ColumnRow, { handle: { dialect: { catalog } } }: DefaultSetting
): string | null {
  return declared === null ? null : catalog.toStandardTexts?.(declared) ?? declared
}

/**
 * Returns the note about a field of the model that declares no default: the effect on a create without the field, and
 * the remedy. There is a note if the database's column has a default. There is also one if the field is nullable but
 * the column is `not null`: for example, a date of MariaDB like 0000-00-00, which records show as null. Otherwise
 * returns undefined.
 *
 * @param hasDefault  true if the column has a default that is not null
 */
function whenAbsent (
  { options }: FieldPlan, { nullable, declared }: ColumnRow, hasDefault: boolean
): string | undefined {
  const undeclared = `has the default ${String(declared)}, which the field cannot declare`
  const isNullable = options.nullable === true
  // The values of the rows, and not the column, made the field nullable.
  if (isNullable && !isYes(nullable)) {
    return `${hasDefault ? undeclared : 'has no default'}, and takes no null: a create must send a value, or the ` +
      'field must declare a default'
  }
  return hasDefault
    ? `${undeclared}: on create the field is ${isNullable ? 'null' : 'required'}. Declare another default, or ` +
      "'readOnly: true', which leaves the column to the database"
    : undefined
}

/**
 * Drops the `maxLength` of a unique text if it is over 500. The default for `maxLength` then applies: 500 characters,
 * the most that the API permits in a unique text in every engine. Returns any other field unchanged.
 */
function withinUnique (plan: FieldPlan): FieldPlan {
  const { unique, maxLength = 0, ...options } = plan.options
  return unique === true && maxLength > maxUniqueLength ? { ...plan, options: { ...options, unique } } : plan
}

/** Returns the reason why a field or its default cannot be declared, in the words of the error; undefined if it can. */
function faultOf (
  { name, kind, options }: FieldPlan, values: StorageName, { key, checks }: DefaultSetting
): string | undefined {
  // The target of a foreign key is not defined yet, so a field of its values is tested instead.
  const { onDelete, key: own, ...others } = options
  const field: Field = kind === 'foreignKey'
    ? { kind: values, options: { ...own && { column: own }, ...others } }
    : { kind, options }
  const keyField = key ?? standIns[options.column?.toLowerCase() === keyName ? 1 : 0]
  try {
    const { columns }: Model = defineModel('Model', { [keyName]: keyField, [name]: field })
    requireSoundDefaults('Model', columns, (column) => checks.ofValue(valueSchema(column)))
    return undefined
  } catch (error) {
    return `cannot be a field: ${messageOf(error)}`
  }
}
