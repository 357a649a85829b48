import { errors } from '../errors.js'
import type { OptionNames } from '../fields/field-kind-row.js'
import { fieldKinds, type FieldKind } from '../fields/field-kinds.js'
import { operatorByName } from '../fields/operators.js'
import { unknownOption } from '../suggest.js'
import { maxKeyLength, type KeyOptions, type TextOptions } from '../values/field-options.js'
import { checkOptions, requireSqlName } from './check-options.js'
import { compositeKeyOf, requireCompositeKey } from './composite-key.js'
import { columnsByName, columnsOf, fieldColumns, requireOwnColumns } from './declared-columns.js'
import { withId } from './key.js'
import { keyName, type Field, type FieldSet, type Model } from './model.js'
import { columnGroups, requireUnique, shapeFault, withUniqueLengths } from './unique-together.js'

export type { FieldSet, Model }

/**
 * Matches names of models and fields, of at most 60 characters. PostgreSQL cuts names after 63, other engines have
 * similar limits, and a foreign key adds the three characters `_id` to the name of its field.
 */
const identifier = /^[A-Za-z][A-Za-z0-9_]{0,59}$/
const modelOptions: OptionNames<ModelOptions> = { table: true, unique: true, key: true }
const keyOptions: OptionNames<KeyOptions> = { column: true, generated: true }
const uuidKeyOptions = { column: true, clientGenerated: true } as const
const textKeyOptions: OptionNames<Omit<TextOptions, 'nullable' | 'readOnly' | 'unique'>> = {
  column: true, default: true, minLength: true, maxLength: true, format: true, enum: true
}
/** Options that a primary key may have, by the kind of its field. Fields of other kinds cannot be the `id`. */
const keyOptionsByKind: Readonly<Partial<Record<FieldKind, Readonly<Record<string, true>>>>> = {
  key: keyOptions, uuid: uuidKeyOptions, text: textKeyOptions
}
const { InvalidModel } = errors

interface ModelOptions<
  Table extends string = string, Name extends string = string, KeyField extends string = string
> {
  /** Name of the table. Default: the model's name in lower case. */
  readonly table?: Table
  /**
   * Lists of fields that are unique together: no two records have the same values in all fields of a list. Two nulls
   * do not count as the same value.
   */
  readonly unique?: ReadonlyArray<readonly Name[]>
  /**
   * The 2 to 16 fields that make up the primary key, if it has several columns. The `id` of a record joins their values
   * in this order.
   */
  readonly key?: readonly KeyField[]
}

/**
 * Defines a model from its fields. The primary key is the field `id`, or the fields that the option `key` names. If
 * neither is declared, `id` is an integer that the database generates. A declared `id` has one of these kinds:
 *
 * - `uuid()`: a UUID of version 7 that the plugin makes, so that two processes never make the same key. With
 *   `clientGenerated`, the body of a create may have its own.
 * - `text()`: a text that the body of a create must have, except if the function in the option `default` returns one.
 * - `key()`: an integer that the database generates. With `generated: false`, the body of a create must have it.
 *
 * If the column of the key is not called `id`, declare `id` with the option `column`. Records still show it as `id`.
 *
 * @param name    name of the model; in lower case, it is the default name of the table, and of the resource in the path
 * @param fields  fields, in the order in which they are serialized
 * @param options name of the table, the fields that are unique together, and those of a primary key of several columns
 * @throws REST_MODELS_INVALID_MODEL if a name or an option cannot be used
 */
export function defineModel<
  const Name extends string, const Fields extends FieldSet, const Table extends string = Lowercase<Name>,
  const KeyField extends Exclude<keyof NoInfer<Fields> & string, 'id'> = never
> (
  name: Name, fields: Fields, options: ModelOptions<Table, Exclude<keyof NoInfer<Fields> & string, 'id'>, KeyField> = {}
): Model<Name, Fields, Table, [KeyField] extends [never] ? 'id' : KeyField> {
  const { table = String(name).toLowerCase() as Table, unique = [], key } = options
  requireIdentifier(name, `model '${name}'`)
  if (typeof fields !== 'object' || fields === null) {
    throw new InvalidModel(`model '${name}' needs its fields in an object`)
  }
  if (Object.keys(fields).length === 0) throw new InvalidModel(`model '${name}' needs at least one field`)
  requireSqlName(table, `table '${table}' of model '${name}'`)
  const fault = unknownOption(options, modelOptions) ?? shapeFault(unique)
  if (fault !== undefined) throw new InvalidModel(`model '${name}': ${fault}`)
  const declared = withUniqueLengths(fields, Array.isArray(key) ? [...unique, key] : unique)
  for (const [key, field] of Object.entries(declared)) checkField(`field '${key}' of model '${name}'`, key, field)
  requireUnique(name, declared, unique)
  const keyed = keyedColumns(name, declared, key)
  const { columns } = keyed
  const byName = columnsByName(name, withId(keyed, columns))
  requireOwnColumns(name, columns)
  const uniqueTogether = columnGroups(columns, unique)
  return Object.freeze({ name, table, fields: Object.freeze({ ...fields }), ...keyed, byName, uniqueTogether })
}

/**
 * Returns the columns of a model's table, the primary key (one of these columns, or made of the columns that `key`
 * names), and the names of the fields that make up the primary key.
 */
function keyedColumns (
  model: string, fields: FieldSet, key: readonly string[] | undefined
): Pick<Model, 'columns' | 'primaryKey'> & { readonly keyFields: readonly never[] } {
  // The compiler does not see that the names are those that the type of the model has.
  const keyFields = Object.freeze([...key ?? [keyName]]) as readonly never[]
  if (key === undefined) {
    const columns = columnsOf(model, fields)
    return { columns, primaryKey: columns[0], keyFields }
  }
  requireCompositeKey(model, fields, key)
  const columns = fieldColumns(model, fields) as Model['columns']
  return { columns, primaryKey: compositeKeyOf(columns, key), keyFields }
}

function checkField (where: string, name: string, field: Field): void {
  requireIdentifier(name, where)
  if (operatorByName.has(name)) {
    throw new InvalidModel(`${where} has the name of a filter operator; rename it and give its 'column'`)
  }
  if (!Object.hasOwn(fieldKinds, field?.kind)) {
    throw new InvalidModel(`${where} is not a field; use text(), integer(), …`)
  }
  if ('target' in field && typeof field.target !== 'function') {
    throw new InvalidModel(`${where} takes the model in a function: foreignKey(() => Model)`)
  }
  if (name === keyName) requireKey(where, field)
  else if (field.kind === 'key' || field.kind === 'compositeKey') {
    throw new InvalidModel(`${where} is made by key(), which only the field '${keyName}' may be; ` +
      'use foreignKey() for a reference to another model')
  }
  const { key } = field.options
  if (key !== undefined) requireReferenceKey(where, name, key)
  checkOptions(where, name, field)
}

/**
 * Throws REST_MODELS_INVALID_MODEL if the option `key` of a foreign key cannot be its key in JSON. It cannot be the
 * name of a filter operator, a text that is not a valid name, or the field's own name: `include` shows the related
 * record under that name.
 */
function requireReferenceKey (where: string, name: string, key: string): void {
  requireIdentifier(key, `${where}, key '${key}'`)
  if (key === name || operatorByName.has(key)) {
    throw new InvalidModel(`${where}: 'key' is another name than that of the field and those of filter operators`)
  }
}

function requireKey (where: string, { kind, options }: Field): void {
  const { [kind]: permitted } = keyOptionsByKind
  if (permitted === undefined || unknownOption(options, permitted) !== undefined) {
    throw new InvalidModel(`${where} is the primary key: leave it out for an integer that the database generates, ` +
      "or declare it as uuid(), key() or text(). The only options are 'column', for key() 'generated', " +
      "for uuid() 'clientGenerated', and for text() those of a text except 'nullable' and 'unique'")
  }
  if (options.default !== undefined && typeof options.default !== 'function') {
    throw new InvalidModel(`${where}: the default of a primary key is a function that returns another text each time`)
  }
  if ((options.maxLength ?? maxKeyLength) > maxKeyLength) {
    throw new InvalidModel(`${where}: 'maxLength' of a primary key is at most ${maxKeyLength}, ` +
      'because the path of a record takes no longer key')
  }
}

function requireIdentifier (name: string, where: string): void {
  if (typeof name === 'string' && identifier.test(name) && !name.includes('__') && !name.endsWith('_')) return
  throw new InvalidModel(`${where}: a name consists of letters, digits and single underscores, at most 60, ` +
    'begins with a letter, and does not end with an underscore')
}
