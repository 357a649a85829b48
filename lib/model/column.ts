import type { Dialect } from '../engines/dialect.js'
import { asIs, type Storage, type Stored } from '../engines/storage.js'
import { errors } from '../errors.js'
import type { FieldKindRow } from '../fields/field-kind-row.js'
import { fieldKinds } from '../fields/field-kinds.js'
import type { Json } from '../values/values.js'
import { keyName, type Column, type Field, type ForeignKeyColumn, type ForeignKeyField, type Model } from './model.js'

export type { Column, ForeignKeyColumn }

export function isForeignKey (column: Column | undefined): column is ForeignKeyColumn {
  return column?.target !== undefined
}

/** The primary key of a model that declares none: an integer that the database generates. */
const generatedKey: Column = Object.freeze({
  field: keyName, key: keyName, name: keyName, kind: 'key', options: Object.freeze({}), nullable: false
})

/** The primary key and the columns of the fields, in the order of their declaration. */
export function columnsOf (model: string, fields: Readonly<Record<string, Field | ForeignKeyField>>): readonly [Column, ...Column[]] {
  const { [keyName]: key, ...others } = fields
  const primaryKey = key === undefined ? generatedKey : columnOf(model, keyName, key)
  return Object.freeze([primaryKey, ...Object.entries(others).map(([name, field]) => columnOf(model, name, field))] as const)
}

function columnOf (model: string, name: string, field: Field | ForeignKeyField): Column {
  const { kind, options } = field
  const key = kind === 'foreignKey' ? `${name}_id` : name
  const common = { field: name, key, name: options.column ?? key, kind, options, nullable: options.nullable === true }
  return Object.freeze({
    ...common,
    ...('target' in field && { target: () => requireTarget(field.target(), `field '${name}' of model '${model}'`) })
  })
}

/** The function of a foreign key gives undefined if it is asked before the other model is defined. */
function requireTarget (target: Model | undefined, where: string): Model {
  if (target?.byName instanceof Map) return target
  throw new errors.InvalidModel(`${where} refers to no model; do files import each other in a circle?`)
}

/** What the values of a column are: those of its kind; of a foreign key, those of the primary key that it refers to. */
export function valueKindOf ({ kind, target }: Column): FieldKindRow {
  return fieldKinds[target === undefined ? kind : target().columns[0].kind]
}

/** Whether a column is an integer primary key, which the API never writes. */
export function isGenerated ({ kind }: Column): boolean {
  return kind === 'key'
}

/** Whether neither the database nor the API makes values of a primary key, so that the API creates no records. */
export function isGivenByOthers ({ kind, options }: Column): boolean {
  return kind === 'key' && options.generated === false
}

/** Whether a column is hashed on every write, and never named by a filter or an ordering. */
export function isSecret ({ kind }: Column): boolean {
  return fieldKinds[kind].isSecret === true
}

/** Whether records can be ordered by a column: what can be compared can be ordered by. */
export function isOrderable ({ kind }: Column): boolean {
  return fieldKinds[kind].operators.includes('lt')
}

/** Whether the default of a column is the moment at which a record is created. */
export function isNow ({ kind, options }: Column): boolean {
  return options.default === 'now' && fieldKinds[kind].now !== undefined
}

/** How an engine keeps the values of a column. */
export function storageOf (column: Column, { storage, storages }: Dialect): Storage {
  return storages?.get(column) ?? storage[valueKindOf(column).storage]
}

/** What a driver gets for a value of the column. */
export function encode (column: Column, value: Json, dialect: Dialect): Stored {
  return value === null ? null : storageOf(column, dialect).encode(value)
}

/** The value of the column for what a driver gave. */
export function decode (column: Column, stored: Stored, dialect: Dialect): Json {
  return stored === null ? null : storageOf(column, dialect).decode(stored, column.options)
}

/** {@link decode} for one column; undefined if what a driver gives is the value. */
export function decoderOf (column: Column, dialect: Dialect): ((stored: Stored) => Json) | undefined {
  const { decode } = storageOf(column, dialect)
  return decode === asIs.decode ? undefined : (stored) => stored === null ? null : decode(stored, column.options)
}
