import { sql } from 'kysely'
import { readHandle, type AnyKysely, type Handle } from '../../database/engine.js'
import { isYes, type ColumnRow, type KeyRow, type ReferenceRow } from '../../engines/catalog.js'
import { errors, messageOf } from '../../errors.js'
import { suggestion } from '../../suggest.js'
import type { FieldOptions } from '../../values/field-options.js'
import { uuid } from '../../values/values.js'
import { readChecked } from './checked-options.js'

/** The target of a foreign key that has one column. */
export type FoundReference = Pick<ReferenceRow, 'target' | 'targetColumn' | 'onDelete'>

/** A foreign key of several columns, and its target as in {@link FoundReference}. */
export interface SharedReference {
  readonly columns: readonly string[]
  readonly target: string
}

/** A table as the database describes it. */
export interface FoundTable {
  readonly name: string
  /** `table`, or another word for another kind, such as `view`. */
  readonly kind: string
  readonly columns: readonly ColumnRow[]
  /**
   * The columns of the primary key, in its order. If there is none: those of the shortest unique index whose columns
   * are never null, or no columns.
   */
  readonly key: readonly string[]
  /** True if the table has a primary key, but of the first characters of a column. It does not count as a key. */
  readonly hasPrefixKey: boolean
  /** Columns that have a unique index of their own. The index of the primary key does not count. */
  readonly unique: ReadonlySet<string>
  /**
   * The columns of each unique index of several columns. Indexes on expressions or prefixes, and the index of the
   * primary key, do not count.
   */
  readonly uniqueTogether: ReadonlyArray<readonly string[]>
  /** The foreign keys that have one column, by that column. */
  readonly references: ReadonlyMap<string, FoundReference>
  /** Those of columns that have several, if they refer to something else than the one in `references`. */
  readonly furtherReferences: readonly ReferenceRow[]
  readonly sharedReferences: readonly SharedReference[]
  /** Options of fields that the checks of createTables() stand for, by the column. */
  readonly checked: ReadonlyMap<string, FieldOptions>
}

/** Tables of Kysely's migrator, which get no models. */
const migratorTables = new Set(['kysely_migration', 'kysely_migration_lock'])

/**
 * Reads the tables of a database, and objects that the engine lists beside them, such as views, in the order of their
 * names. Leaves out the tables of Kysely's migrator.
 *
 * @param only  names of the tables; all if absent
 * @throws REST_MODELS_INVALID_OPTIONS if a named table does not exist
 */
export async function readDatabase (handle: AnyKysely, only?: readonly string[]): Promise<readonly FoundTable[]> {
  const { db, dialect } = readHandle(handle)
  const { catalog } = dialect
  const { rows: all } = await catalog.tables.execute(db)
  const tables = all.filter(({ name }) => !migratorTables.has(name))
  const unknown = only?.find((name) => !tables.some((table) => table.name === name))
  if (unknown !== undefined) {
    const hint = suggestion(unknown, tables.map(({ name }) => name))
    throw new errors.InvalidOptions(`The database has no table '${unknown}'${hint}`)
  }
  const { rows: columns } = await catalog.columns.execute(db)
  const { rows: keys } = await catalog.keys.execute(db)
  const { rows: references } = await catalog.references.execute(db)
  const { rows: checks } = await catalog.checks.execute(db)
  const ofTable = <Row extends { readonly table: string }>(rows: readonly Row[], name: string): Row[] =>
    rows.filter(({ table }) => table === name)
  return tables.filter(({ name }) => only?.includes(name) ?? true).map(({ name, kind }) => ({
    name,
    kind,
    columns: ofTable(columns, name),
    ...readKeys(ofTable(keys, name), ofTable(columns, name)),
    ...readReferences(ofTable(references, name)),
    checked: readChecked(ofTable(checks, name), dialect)
  }))
}

function readKeys (
  rows: readonly KeyRow[], columns: readonly ColumnRow[]
): Pick<FoundTable, 'key' | 'hasPrefixKey' | 'unique' | 'uniqueTogether'> {
  const primary = rows.filter((row) => isYes(row.primary))
  const indexes = groups(rows.filter((row) => !isYes(row.primary)))
    .filter((index) => index.every(({ column }) => column !== null))
    .map((index) => index.map(({ column }) => String(column)))
  const hasPrefixKey = primary.some(({ column }) => column === null)
  return {
    key: primary.length > 0 && !hasPrefixKey
      ? primary.map(({ column }) => String(column))
      : keyAmong(indexes, columns),
    hasPrefixKey,
    unique: new Set(indexes.filter(({ length }) => length === 1).flat()),
    uniqueTogether: indexes.filter(({ length }) => length > 1)
  }
}

/** Returns the columns of the shortest unique index of columns that are never null; none if there is no such index. */
function keyAmong (
  indexes: ReadonlyArray<readonly string[]>, columns: readonly ColumnRow[]
): readonly string[] {
  const neverNull = new Set(columns.filter(({ nullable }) => !isYes(nullable)).map(({ name }) => name))
  const [shortest = []] = indexes.filter((index) => index.every((name) => neverNull.has(name)))
    .toSorted((one, other) => one.length - other.length)
  return shortest
}

function readReferences (
  rows: readonly ReferenceRow[]
): Pick<FoundTable, 'references' | 'furtherReferences' | 'sharedReferences'> {
  const all = groups(rows)
  const isShared = ({ length }: readonly ReferenceRow[]): boolean => length > 1
  const single = all.filter((group) => !isShared(group)).map(([reference]) => reference)
  const references = new Map(single.map((reference) => [reference.column, reference]))
  return {
    references,
    furtherReferences: single.filter(({ column, target, targetColumn }) => {
      const kept = references.get(column)
      return kept?.target !== target || kept.targetColumn !== targetColumn
    }),
    sharedReferences: all.filter(isShared)
      .map((group) => ({ columns: group.map(({ column }) => column), target: group[0].target }))
  }
}

/** Groups rows by their property `key`. Each group has at least one row. */
function groups<Row extends { readonly key: string }> (rows: readonly Row[]): ReadonlyArray<readonly [Row, ...Row[]]> {
  const byKey = new Map<string, [Row, ...Row[]]>()
  for (const row of rows) {
    const group = byKey.get(row.key)
    if (group === undefined) byKey.set(row.key, [row])
    else group.push(row)
  }
  return [...byKey.values()]
}

/** Rows that are read to find out if a column holds UUIDs. */
const maxSampleRows = 100

/** True if the first 100 rows of a text column all hold UUIDs in lower case, and there is at least one row. */
export async function holdsUuids ({ db }: Pick<Handle, 'db'>, table: string, column: string): Promise<boolean> {
  const limit = sql.lit(maxSampleRows)
  const query = sql<{ value: unknown }>`select ${sql.ref(column)} as value from ${sql.table(table)} limit ${limit}`
  const { rows } = await query.execute(db)
  return rows.length > 0 && rows.every(({ value }) => typeof value === 'string' && uuid(value) === value)
}

/** Returns the engine's reason why it cannot select from a table, or undefined if it can. */
export async function whyUnreadable (
  { db }: Pick<Handle, 'db'>, { name, columns }: FoundTable
): Promise<string | undefined> {
  try {
    const names = columns.map((column) => sql.id(column.name))
    await sql`select ${sql.join(names)} from ${sql.table(name)} limit 0`.execute(db)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
