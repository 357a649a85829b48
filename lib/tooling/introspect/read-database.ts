import { sql } from 'kysely'
import { readHandle, type AnyKysely, type Handle } from '../../database/engine.js'
import { isYes, type ColumnRow, type KeyRow, type ReferenceRow } from '../../engines/catalog.js'
import { errors } from '../../errors.js'
import { suggestion } from '../../suggest.js'
import { uuid } from '../../values/values.js'

/** What a foreign key of one column refers to. */
export type FoundReference = Pick<ReferenceRow, 'target' | 'targetColumn' | 'onDelete'>

/** A table as the database describes it. */
export interface FoundTable {
  readonly name: string
  /** `table`, or what it is instead. */
  readonly kind: string
  readonly columns: readonly ColumnRow[]
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[]
  /** Columns that are unique each by itself. */
  readonly unique: ReadonlySet<string>
  /** The foreign keys of one column, by that column. */
  readonly references: ReadonlyMap<string, FoundReference>
}

/** What Kysely's migrator keeps for itself. */
const bookkeeping = new Set(['kysely_migration', 'kysely_migration_lock'])

/**
 * The tables of a database, in the order of their names.
 *
 * @param only  names of tables; all if absent
 * @throws REST_MODELS_INVALID_OPTIONS if a table that is named does not exist
 */
export async function readDatabase (handle: AnyKysely, only?: readonly string[]): Promise<readonly FoundTable[]> {
  const { db, dialect: { catalog } } = readHandle(handle)
  const { rows: all } = await catalog.tables.execute(db)
  const tables = all.filter(({ name }) => !bookkeeping.has(name))
  const unknown = only?.find((name) => !tables.some((table) => table.name === name))
  if (unknown !== undefined) throw new errors.InvalidOptions(`The database has no table '${unknown}'${suggestion(unknown, tables.map(({ name }) => name))}`)
  const { rows: columns } = await catalog.columns.execute(db)
  const { rows: keys } = await catalog.keys.execute(db)
  const { rows: references } = await catalog.references.execute(db)
  const ofTable = <Row extends { readonly table: string }>(rows: readonly Row[], name: string): Row[] => rows.filter(({ table }) => table === name)
  return tables.filter(({ name }) => only?.includes(name) ?? true).map(({ name, kind }) => ({
    name,
    kind,
    columns: ofTable(columns, name),
    ...readKeys(ofTable(keys, name)),
    references: readReferences(ofTable(references, name))
  }))
}

function readKeys (rows: readonly KeyRow[]): Pick<FoundTable, 'key' | 'unique'> {
  const primary = rows.filter((row) => isYes(row.primary))
  const others = groups(rows.filter((row) => !isYes(row.primary)))
  const single = others.flatMap(([{ column }, ...more]) => more.length === 0 && column !== null ? [column] : [])
  return { key: primary.map(({ column }) => String(column)), unique: new Set(single) }
}

function readReferences (rows: readonly ReferenceRow[]): FoundTable['references'] {
  return new Map(groups(rows).filter((columns) => columns.length === 1).map(([reference]) => [reference.column, reference]))
}

/** The rows of each key, one or more. */
function groups<Row extends { readonly key: string }> (rows: readonly Row[]): ReadonlyArray<readonly [Row, ...Row[]]> {
  const byKey = new Map<string, [Row, ...Row[]]>()
  for (const row of rows) {
    const group = byKey.get(row.key)
    if (group === undefined) byKey.set(row.key, [row])
    else group.push(row)
  }
  return [...byKey.values()]
}

/** How many rows are looked at. */
const sample = 100

/** Whether a column of texts holds UUIDs in lower case, as far as its first rows tell; not if there are none. */
export async function holdsUuids ({ db }: Pick<Handle, 'db'>, table: string, column: string): Promise<boolean> {
  const { rows } = await sql<{ value: unknown }>`select ${sql.ref(column)} as value from ${sql.table(table)} limit ${sql.lit(sample)}`.execute(db)
  return rows.length > 0 && rows.every(({ value }) => typeof value === 'string' && uuid(value) === value)
}

/** Why nothing can be selected from a table, in the words of the engine; undefined if it can. */
export async function whyUnreadable ({ db }: Pick<Handle, 'db'>, { name, columns }: FoundTable): Promise<string | undefined> {
  try {
    await sql`select ${sql.join(columns.map((column) => sql.id(column.name)))} from ${sql.table(name)} limit 0`.execute(db)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
