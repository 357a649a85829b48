import { createHash } from 'node:crypto'
import {
  sql, type ColumnDefinitionBuilder, type CreateTableBuilder, type Expression, type Kysely, type SqlBool
} from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Tables } from '../engines/executor.js'
import {
  acceptDefault, encode, isForeignKey, isGenerated, isNow, isSecret, storageOf, valueOptionsOf, type Column
} from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { indexedLengthOf } from '../model/unique-together.js'
import { checksOf } from './column-checks.js'
import type { PlannedTable, Reference } from './plan-tables.js'

/** The schema builder of a database, or one that records the same calls for a migration. */
export type SchemaTarget = Pick<Kysely<Tables>, 'schema'>

/** An index to create. `where` is the condition for the rows in the index; absent if it has all rows of the table. */
export interface TableIndex {
  readonly name: string
  readonly column: Column
  readonly where?: Expression<SqlBool>
}

/**
 * Creates the table of a model, with the foreign keys in `references`. Fails if the table exists. The caller must then
 * create the indexes that {@link indexesOf} returns.
 */
export async function createTable (
  db: SchemaTarget, { model, references }: PlannedTable, dialect: Dialect
): Promise<void> {
  const { table, columns } = model
  const { generatedKey, tableOptions } = dialect.schema
  let creation: CreateTableBuilder<string, string> = db.schema.createTable(table)
  for (const column of columns) {
    creation = isGenerated(column)
      ? creation.addColumn(column.name, sql.raw(generatedKey))
      : creation.addColumn(column.name, sql.raw(typeOf(column, model, dialect)), (builder) =>
        // SQLite accepts null in a primary key that is not an integer.
        column === model.primaryKey
          ? builder.notNull().primaryKey()
          : constrain(column.options.unique === true ? builder.unique() : builder, column, dialect))
  }
  for (const column of references) {
    creation = creation.addForeignKeyConstraint(
      referenceNameOf(table, column),
      [column.name],
      column.target().table,
      [column.target().primaryKey.name],
      (reference) => reference.onDelete(onDeleteOf(column)))
  }
  const whole = withUnique(withKey(creation, model), model)
  await (tableOptions === undefined ? whole : whole.modifyEnd(sql.raw(tableOptions))).execute()
}

/**
 * Adds a primary key of several columns. Returns `creation` unchanged if the key has one column, because
 * {@link createTable} has made this column the primary key.
 */
function withKey (
  creation: CreateTableBuilder<string, string>, { table, primaryKey: { parts } }: Model
): CreateTableBuilder<string, string> {
  if (parts === undefined) return creation
  return creation.addPrimaryKeyConstraint(nameOf(table, 'key'), parts.map(({ name }) => name) as [string])
}

function withUnique (
  creation: CreateTableBuilder<string, string>, { table, uniqueTogether }: Model
): CreateTableBuilder<string, string> {
  return uniqueTogether.map((group) => group.map(({ name }) => name))
    .reduce((built, names) => built.addUniqueConstraint(uniqueNameOf(table, names), names), creation)
}

/** Returns the groups of columns that share an index: a key of several columns, and fields that are unique together. */
function indexedGroups ({ primaryKey: { parts }, uniqueTogether }: Model): Model['uniqueTogether'] {
  return parts === undefined ? uniqueTogether : [parts, ...uniqueTogether]
}

/** Returns the SQL type of a column. The limits of a password do not apply to its hash, so they are left out. */
export function typeOf (column: Column, model: Model, dialect: Dialect): string {
  const options = valueOptionsOf(column)
  // Not an integer, because SQLite would generate the values of an 'integer primary key'.
  if (column.kind === 'key') return dialect.storage.bigint.type({})
  const { type } = storageOf(column, dialect)
  if (column.kind === 'text' && indexedGroups(model).some((group) => group.includes(column))) {
    return type({ maxLength: indexedLengthOf(options), unique: true })
  }
  return type(isSecret(column) ? {} : options)
}

/**
 * Returns an index for each foreign key that no unique index serves, and for each column whose `Storage` in the engine
 * has an `index`, such as a date with time on SQLite.
 */
export function indexesOf (model: Model, dialect: Dialect): readonly TableIndex[] {
  const { table, columns } = model
  const stored = columns.flatMap((column) => {
    const { index } = storageOf(column, dialect)
    if (index === undefined) return []
    return [{ name: nameOf(table, column.name, index.name), column, where: index.of(sql.ref(column.name)) }]
  })
  const isServed = (column: Column): boolean =>
    column.options.unique === true || indexedGroups(model).some(([first]) => first === column)
  const references = columns.filter((column) => isForeignKey(column) && !isServed(column))
    .map((column) => ({ name: nameOf(table, column.name, 'index'), column }))
  return [...stored, ...references]
}

/** Creates an index of a table that exists. Fails if an index has this name already. */
export async function createIndex (
  db: SchemaTarget, { table }: Model, { name, column, where }: TableIndex
): Promise<void> {
  const creation = db.schema.createIndex(name).on(table).column(column.name)
  await (where === undefined ? creation : creation.where(where)).execute()
}

/** Adds a foreign key to a table that exists. Fails if a row refers to no record. SQLite cannot do this. */
export async function addReference (db: SchemaTarget, { model: { table }, column }: Reference): Promise<void> {
  await db.schema.alterTable(table)
    .addForeignKeyConstraint(
      referenceNameOf(table, column),
      [column.name],
      column.target().table,
      [column.target().primaryKey.name])
    .onDelete(onDeleteOf(column)).execute()
}

/**
 * Most characters in the name of an index or a constraint. PostgreSQL cuts names after 63 bytes, and MariaDB refuses
 * names of more than 64 characters.
 */
const maxNameLength = 60

/** Returns the name of an index or a constraint. A hash replaces its end if it is longer than {@link maxNameLength}. */
function nameOf (...parts: readonly string[]): string {
  const name = parts.join('__')
  if (name.length <= maxNameLength) return name
  const digest = digestOf(name)
  return `${name.slice(0, maxNameLength - digest.length - 2)}__${digest}`
}

/** Returns the name of the constraint of a foreign key. */
export function referenceNameOf (table: string, { name }: Column): string {
  return nameOf(table, name, 'reference')
}

/** Returns the name of the unique constraint or unique index of one or several columns. */
export function uniqueNameOf (table: string, names: readonly string[]): string {
  const parts = [table, ...names]
  // Without a hash, such names would run together: a__b and c would make the same name as a and b__c.
  const isAmbiguous = parts.some((part) => /^_|__|_$/.test(part))
  return nameOf(...parts, ...isAmbiguous ? [digestOf(parts.join())] : [], 'unique')
}

function digestOf (text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/**
 * SQL for the values of `onDelete`. `restrict` becomes `no action`, which refuses the same deletes, because SQLite
 * would report a `restrict` as a failed trigger.
 */
const onDeleteActions = { restrict: 'no action', cascade: 'cascade', 'set null': 'set null' } as const

/**
 * Returns the SQL after `on delete` of a foreign key: what happens to a record when the one it refers to is deleted. It
 * is `no action` if the field has no option `onDelete`.
 */
export function onDeleteOf ({ options }: Column) {
  return onDeleteActions[options.onDelete ?? 'restrict']
}

/** Adds to a column the rules for its values: whether null is permitted, the default, and the checks. */
export function constrain (
  builder: ColumnDefinitionBuilder, column: Column, dialect: Dialect
): ColumnDefinitionBuilder {
  let built = column.nullable ? builder : builder.notNull()
  const declared = defaultExpression(column, dialect)
  if (declared !== undefined) built = built.defaultTo(declared)
  const checks = checksOf(column, dialect)
  // All rules are in one check, because Kysely keeps only the last of several.
  if (checks.length > 0) built = built.check(sql`${sql.join(checks, sql` and `)}`)
  return built
}

/**
 * Returns the default of a column as SQL, so that rows that other programs insert get it, too. Returns undefined if the
 * column has no default, if its default is null or a function, and for a password, which would be stored unhashed.
 */
export function defaultExpression (column: Column, dialect: Dialect) {
  const { default: declared } = column.options
  if (declared === undefined || declared === null || typeof declared === 'function' || isSecret(column)) {
    return undefined
  }
  if (isNow(column)) return storageOf(column, dialect).now
  const value = acceptDefault(column, declared)
  return sql`${sql.lit(encode(column, value, dialect))}`
}
