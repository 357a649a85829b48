import { errors } from '../errors.js'
import type { OptionNames } from '../fields/field-kind-row.js'
import { fieldKinds } from '../fields/field-kinds.js'
import { isOperator } from '../fields/operators.js'
import { unknownOption } from '../suggest.js'
import type { KeyOptions } from '../values/field-options.js'
import { checkOptions, requireSqlName } from './check-options.js'
import { columnsOf } from './column.js'
import { keyName, type Column, type Field, type FieldSet, type Model } from './model.js'

export type { FieldSet, Model }

/**
 * Matches names of models and fields. PostgreSQL cuts names of more than 63 characters, the key of a foreign key has
 * three more than its field, and other engines have similar limits.
 */
const identifier = /^[A-Za-z][A-Za-z0-9_]{0,59}$/
const keyOptions: OptionNames<KeyOptions> = { column: true, generated: true }
const uuidKeyOptions = { column: true }
const { InvalidModel } = errors

/**
 * Defines a model from its fields. Every model also has the primary key `id`, an integer that the database generates.
 * If `id` is declared as `uuid()`, it is a UUID of version 7 that the plugin makes, so that writers never make the same
 * key. Declare it as `key()` or `uuid()` with a `column` if the column has another name; records have it as `id`.
 *
 * @param name   name of the model; in lower case it is the resource's name in the path
 * @param fields fields, in the order in which they are serialized
 * @param table  name of the table; the model's name in lower case if absent
 * @throws REST_MODELS_INVALID_MODEL if a name or an option cannot be used
 */
export function defineModel<
  const Name extends string, const Fields extends FieldSet, const Table extends string = Lowercase<Name>
> (
  name: Name, fields: Fields, { table = String(name).toLowerCase() as Table }: { readonly table?: Table } = {}
): Model<Name, Fields, Table> {
  requireIdentifier(name, `model '${name}'`)
  if (typeof fields !== 'object' || fields === null) {
    throw new InvalidModel(`model '${name}' needs its fields in an object`)
  }
  if (Object.keys(fields).length === 0) throw new InvalidModel(`model '${name}' needs at least one field`)
  requireSqlName(table, `table '${table}' of model '${name}'`)
  for (const [key, field] of Object.entries(fields)) checkField(`field '${key}' of model '${name}'`, key, field)
  const columns = columnsOf(name, fields)
  const byName = lookUp(name, columns)
  requireOwnColumns(name, columns)
  const { 0: primaryKey } = columns
  return Object.freeze({ name, table, fields: Object.freeze({ ...fields }), columns, primaryKey, byName })
}

function checkField (where: string, name: string, field: Field): void {
  requireIdentifier(name, where)
  if (isOperator(name)) {
    throw new InvalidModel(`${where} has the name of a filter operator; rename it and give its 'column'`)
  }
  if (!Object.hasOwn(fieldKinds, field?.kind)) {
    throw new InvalidModel(`${where} is not a field; use text(), integer(), …`)
  }
  if ('target' in field && typeof field.target !== 'function') {
    throw new InvalidModel(`${where} takes the model in a function: foreignKey(() => Model)`)
  }
  if (name === keyName) requireKey(where, field)
  else if (field.kind === 'key') {
    throw new InvalidModel(`${where} is made by key(), which only the field '${keyName}' may be; ` +
      'use foreignKey() for a reference to another model')
  }
  checkOptions(where, name, field)
}

function requireKey (where: string, { kind, options }: Field): void {
  const permitted = kind === 'key' ? keyOptions : uuidKeyOptions
  if ((kind === 'uuid' || kind === 'key') && unknownOption(options, permitted) === undefined) return
  throw new InvalidModel(`${where} is the primary key: leave it out for an integer that the database generates, ` +
    "or declare it as uuid() or key(). The only options are 'column', and for key() 'generated'")
}

function requireIdentifier (name: string, where: string): void {
  if (typeof name === 'string' && identifier.test(name) && !name.includes('__') && !name.endsWith('_')) return
  throw new InvalidModel(`${where}: a name consists of letters, digits and single underscores, at most 60, ` +
    'begins with a letter, and does not end with an underscore')
}

/** Refuses two fields in one column. Engines do not tell columns apart by case. */
function requireOwnColumns (model: string, columns: readonly Column[]): void {
  const taken = new Set<string>()
  for (const { name } of columns) {
    if (taken.has(name.toLowerCase())) throw new InvalidModel(`model '${model}' has two fields in column '${name}'`)
    taken.add(name.toLowerCase())
  }
}

function lookUp (model: string, columns: readonly Column[]): ReadonlyMap<string, Column> {
  const byName = new Map<string, Column>()
  for (const column of columns) {
    for (const name of new Set([column.field, column.key])) {
      if (byName.has(name)) throw new InvalidModel(`model '${model}' has two fields that are called '${name}'`)
      byName.set(name, column)
    }
  }
  return byName
}
