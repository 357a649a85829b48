import { errors } from '../errors.js'
import { keyPattern, maxKeyLength } from '../values/field-options.js'
import { targetFinder } from './column.js'
import { keyName, type Column, type Field, type ForeignKeyField } from './model.js'

/** Primary key of a model that declares none: an integer that the database generates. */
const generatedKey: Column = Object.freeze({
  field: keyName, key: keyName, name: keyName, kind: 'key', options: Object.freeze({}), nullable: false
})

/**
 * Returns the columns of a model whose primary key is one column: this one first, then the fields in the order of their
 * declaration.
 */
export function columnsOf (
  model: string, fields: Readonly<Record<string, Field | ForeignKeyField>>
): readonly [Column, ...Column[]] {
  const { [keyName]: key, ...others } = fields
  const primaryKey = key === undefined ? generatedKey : columnOf(model, keyName, withKeyRules(key))
  return Object.freeze([primaryKey, ...fieldColumns(model, others)] as const)
}

/** Returns the columns of the fields, in the order of their declaration. */
export function fieldColumns (
  model: string, fields: Readonly<Record<string, Field | ForeignKeyField>>
): readonly Column[] {
  return Object.freeze(Object.entries(fields).map(([name, field]) => columnOf(model, name, field)))
}

/**
 * Returns the field of a primary key. A text gets the rules of every key of text: it is unique, not empty, at most 100
 * characters long or as long as `maxLength` says, and neither `.` nor `..`, which paths cannot hold. Any other field is
 * returned unchanged.
 */
function withKeyRules (key: Field): Field {
  if (key.kind !== 'text') return key
  const { minLength = 1, maxLength = maxKeyLength } = key.options
  const rules = { minLength: Math.max(1, minLength), maxLength, unique: true, pattern: keyPattern }
  return { ...key, options: Object.freeze({ ...key.options, ...rules }) }
}

function columnOf (model: string, name: string, field: Field | ForeignKeyField): Column {
  const { kind, options } = field
  const key = kind === 'foreignKey' ? options.key ?? `${name}_id` : name
  const common = { field: name, key, name: options.column ?? key, kind, options, nullable: options.nullable === true }
  return Object.freeze({ ...common, ...('target' in field && { target: targetFinder(model, name, field.target) }) })
}

/** Columns of every table of PostgreSQL: https://www.postgresql.org/docs/15/ddl-system-columns.html */
const systemColumns = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'])

/**
 * Throws REST_MODELS_INVALID_MODEL if a field has a system column of PostgreSQL, or if two fields have the same column.
 * Names of columns that differ only in case are the same, because some engines ignore case.
 */
export function requireOwnColumns (model: string, columns: readonly Column[]): void {
  const taken = new Set<string>()
  for (const { name, field } of columns) {
    if (systemColumns.has(name)) {
      throw new errors.InvalidModel(`field '${field}' of model '${model}': every table of PostgreSQL has a system ` +
        `column '${name}'; give the field another 'column'`)
    }
    const folded = name.toLowerCase()
    if (taken.has(folded)) throw new errors.InvalidModel(`model '${model}' has two fields in column '${name}'`)
    taken.add(folded)
  }
}

/**
 * Returns columns by the names of their fields and by their keys in JSON.
 *
 * @throws REST_MODELS_INVALID_MODEL if a name means two fields
 */
export function columnsByName (model: string, columns: readonly Column[]): ReadonlyMap<string, Column> {
  const byName = new Map<string, Column>()
  for (const column of columns) {
    for (const name of new Set([column.field, column.key])) {
      if (byName.has(name)) throw new errors.InvalidModel(`model '${model}' has two fields that are called '${name}'`)
      byName.set(name, column)
    }
  }
  return byName
}
