import { errors } from '../errors.js'
import type { DialectName } from '../vocabulary/dialects.js'
import { fieldKinds } from '../vocabulary/field-kinds.js'
import type { Stored } from '../vocabulary/storage.js'
import type { Json } from '../vocabulary/values.js'
import type { Column, Field, ForeignKeyColumn, ForeignKeyField, Model } from './model.js'

export type { Column, ForeignKeyColumn }

export function isForeignKey (column: Column | undefined): column is ForeignKeyColumn {
  return column?.target !== undefined
}

/** The primary key that every model has. */
export const primaryKey: Column = Object.freeze(
  { field: 'id', key: 'id', name: 'id', kind: 'key', options: Object.freeze({}), nullable: false })

/** The primary key and the columns of the fields, in the order of their declaration. */
export function columnsOf (model: string, fields: Readonly<Record<string, Field | ForeignKeyField>>): readonly Column[] {
  return Object.freeze([primaryKey, ...Object.entries(fields).map(([name, field]) => columnOf(model, name, field))])
}

function columnOf (model: string, name: string, field: Field | ForeignKeyField): Column {
  const { kind, options } = field
  const key = kind === 'foreignKey' ? `${name}_id` : name
  return Object.freeze({
    field: name,
    key,
    name: options.column ?? key,
    kind,
    options,
    nullable: options.nullable === true,
    ...('target' in field && { target: () => requireTarget(field.target(), `field '${name}' of model '${model}'`) })
  })
}

/** The function of a foreign key gives undefined if it is asked before the other model is defined. */
function requireTarget (target: Model | undefined, where: string): Model {
  if (target?.byName instanceof Map) return target
  throw new errors.InvalidModel(`${where} refers to no model; do files import each other in a circle?`)
}

/** Whether a column is hashed on every write, and never named by a filter or an ordering. */
export function isSecret ({ kind }: Column): boolean {
  return fieldKinds[kind].isSecret === true
}

/** Whether records can be ordered by a column: what can be compared can be ordered by. */
export function isOrderable ({ kind }: Column): boolean {
  return fieldKinds[kind].operators.includes('lt')
}

/** Whether an engine's collation would have a say in comparing a column. */
export function isCollated ({ kind }: Column): boolean {
  return fieldKinds[kind].isCollated === true
}

/** Whether the default of a column is the moment at which a record is created. */
export function isNow ({ kind, options }: Column): boolean {
  return options.default === 'now' && fieldKinds[kind].now !== undefined
}

/** What a driver gets for a value of the column. */
export function encode ({ kind }: Column, value: Json, dialect: DialectName): Stored {
  return value === null ? null : fieldKinds[kind].storage[dialect].encode(value)
}

/** The value of the column for what a driver gave. */
export function decode ({ kind, options }: Column, stored: Stored, dialect: DialectName): Json {
  return stored === null ? null : fieldKinds[kind].storage[dialect].decode(stored, options)
}
