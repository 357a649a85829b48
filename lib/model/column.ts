import type { Dialect } from '../engines/dialect.js'
import type { Row } from '../engines/executor.js'
import { asIs, type Storage, type StorageName, type Stored } from '../engines/storage.js'
import { errors } from '../errors.js'
import type { FieldKindRow } from '../fields/field-kind-row.js'
import { fieldKinds, type FieldKind } from '../fields/field-kinds.js'
import type { FieldOptions } from '../values/field-options.js'
import type { Json } from '../values/values.js'
import { isModel, keyName, type Column, type ForeignKeyColumn, type Model } from './model.js'

export type { Column, ForeignKeyColumn }

export function isForeignKey (column: Column | undefined): column is ForeignKeyColumn {
  return column?.target !== undefined
}

/**
 * Returns a function that gives the model to which a foreign key refers. `find` is not called before the model is
 * needed, because models may refer to each other. The function throws as {@link requireTarget} says.
 *
 * @param model  name of the model with the foreign key, for messages
 * @param name   name of the foreign key, for messages
 */
export function targetFinder (model: string, name: string, find: () => Model): () => Model {
  let target: Model | undefined
  return () => {
    target ??= requireTarget(find(), `field '${name}' of model '${model}'`)
    return target
  }
}

/**
 * Returns the model that a foreign key refers to.
 *
 * @throws REST_MODELS_INVALID_MODEL if there is no model, because the foreign key is used before the other model is
 *   defined, or if the primary key of the model has several columns
 */
function requireTarget (target: Model | undefined, where: string): Model {
  if (!isModel(target)) {
    throw new errors.InvalidModel(`${where} refers to no model; do files import each other in a circle?`)
  }
  if (target.primaryKey.parts === undefined) return target
  throw new errors.InvalidModel(`${where} refers to model '${target.name}', whose key has several fields: ` +
    'declare fields of the same kinds instead, or give that model a key of one field')
}

/** Returns the kind of a column's values. For a foreign key, that is the kind of the primary key that it refers to. */
export function valueKindNameOf ({ kind, target }: Column): FieldKind {
  return target === undefined ? kind : target().primaryKey.kind
}

/**
 * Returns the {@link FieldKindRow} for a column's values. For a foreign key, that is the one of the primary key that it
 * refers to.
 */
export function valueKindOf ({ kind, target }: Column): FieldKindRow {
  return fieldKinds[target === undefined ? kind : target().primaryKey.kind]
}

const numbers: ReadonlySet<StorageName> = new Set(['key', 'integer', 'number'])

/**
 * Returns the type that the values of a column have in JSON. For the kind `json`, whose values may have any type, it
 * returns `string`; no caller asks for such a column.
 */
export function jsonTypeOf (column: Column): 'string' | 'number' | 'boolean' {
  const { storage } = valueKindOf(column)
  if (storage === 'boolean') return storage
  return numbers.has(storage) ? 'number' : 'string'
}

/** True if records show the values of a column as JSON numbers without a fraction. */
export function isInteger (column: Column): boolean {
  const { storage } = valueKindOf(column)
  return storage === 'key' || storage === 'integer'
}

/** Returns the options that the values of a column have to meet. A foreign key has those of the key it refers to. */
export function valueOptionsOf ({ options, target }: Column): FieldOptions {
  return target === undefined ? options : target().primaryKey.options
}

/** True if a column is an integer primary key that the database generates. The API never writes such a column. */
export function isGenerated ({ kind, options }: Column): boolean {
  return kind === 'key' && options.generated !== false
}

/**
 * True if a column is a primary key whose value a create may contain: a text, a UUID with the option `clientGenerated`,
 * or an integer with `generated: false`.
 */
export function isClientGenerated ({ field, kind, options }: Column): boolean {
  const isGiven = kind === 'text' || options.clientGenerated === true || options.generated === false
  return field === keyName && isGiven
}

/**
 * True if a column is a primary key whose value the plugin makes if a create leaves it out. This is so for all primary
 * keys of the kind `uuid`.
 */
export function isMadeByApi ({ field, kind }: Column): boolean {
  return field === keyName && kind === 'uuid'
}

/**
 * True if a column holds passwords. A new value is hashed before it is stored, and no filter or ordering may name the
 * column.
 */
export function isSecret ({ kind }: Column): boolean {
  return fieldKinds[kind].isSecret === true
}

/**
 * True if records can be ordered by a column: every column on which filters may use the operator `lt`, and the `id` of
 * a model whose key has several columns.
 */
export function isOrderable ({ kind, parts }: Column): boolean {
  return parts !== undefined || fieldKinds[kind].operators.includes('lt')
}

/**
 * True if the default of a column is the moment, or the day, at which a record is created: `now` in a datetime or date.
 * In a field of another kind, `now` is a value like any other.
 */
export function isNow ({ kind, options }: Column): boolean {
  return options.default === 'now' && fieldKinds[kind].now !== undefined
}

/**
 * True if every update that changes something sets a column to the moment of the update. No client writes such a
 * column.
 */
export function isSetOnUpdate ({ options }: Column): boolean {
  return options.onUpdate !== undefined
}

/** True if only the database gives a column its values. The API never writes such a column. */
export function isFilledByDatabase ({ options }: Column): boolean {
  return options.readOnly === true
}

/** True if a create gives a column its value: the API writes every column that the database does not fill itself. */
export function isWrittenByApi (column: Column): boolean {
  return !isFilledByDatabase(column) && !isGenerated(column)
}

/**
 * Returns a value in the one JSON form that records show; undefined if the column cannot hold it. The value must fit
 * the schema of the column, and must not be null.
 */
export function acceptValue (column: Column, value: unknown): Json | undefined {
  return valueKindOf(column).accept(value as Exclude<Json, null>, column.options)
}

/**
 * Returns a declared default in the one JSON form that records show.
 *
 * @throws TypeError if the column cannot hold it
 */
export function acceptDefault (column: Column, declared: unknown): Json {
  const value = acceptValue(column, declared)
  if (value === undefined) throw new TypeError(`The default of field '${column.field}' is no value that it can hold`)
  return value
}

/**
 * Returns how an engine stores the values of a column. This depends on the kind of the values, except for columns in
 * `storages` of the dialect. These need another storage, for example because an existing column has another type,
 * collation or index.
 */
export function storageOf (column: Column, { storage, storages }: Dialect): Storage {
  return storages?.get(column) ?? storage[valueKindOf(column).storage]
}

/** Converts a JSON value of a column to what the driver takes. Null stays null. */
export function encode (column: Column, value: Json, dialect: Dialect): Stored {
  if (value === null) return null
  const storage = storageOf(column, dialect)
  return storage.encode === undefined ? value as Stored : storage.encode(value)
}

/**
 * Converts the values of a write to those that the engine stores.
 *
 * @throws REST_MODELS_CONSTRAINT (409) if a column would refuse a value, or change it while storing it
 */
export function encodeAll (values: ReadonlyMap<Column, Json>, dialect: Dialect): ReadonlyMap<Column, Stored> {
  const encoded = new Map<Column, Stored>()
  for (const [column, value] of values) {
    const { alters, replacesNull } = storageOf(column, dialect)
    if (value === null ? replacesNull === true : alters?.(value) === true) {
      throw new errors.Constraint({ cause: new Error(`Column '${column.name}' cannot keep the value as it is`) })
    }
    encoded.set(column, encode(column, value, dialect))
  }
  return encoded
}

/**
 * Converts what the driver returned for a column to the JSON value. Null stays null, and a value that no record can
 * show, such as infinity, becomes null.
 */
export function decode (column: Column, stored: Stored, dialect: Dialect): Json {
  return stored === null ? null : storageOf(column, dialect).decode(stored, column.options)
}

/** Returns the JSON value of a column from the property `column.key` of a row; null if the row has no such property. */
export function decodeIn (row: Row, column: Column, dialect: Dialect): Json {
  const { [column.key]: stored = null } = row
  return decode(column, stored, dialect)
}

/**
 * Returns a function that does what {@link decode} does for one column. Undefined if the driver already returns the
 * JSON value.
 */
export function decoderOf (column: Column, dialect: Dialect): ((stored: Stored) => Json) | undefined {
  const { decode } = storageOf(column, dialect)
  return decode === asIs.decode ? undefined : (stored) => stored === null ? null : decode(stored, column.options)
}
