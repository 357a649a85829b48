import { sql, type RawBuilder } from 'kysely'
import type { Handle } from '../../database/engine.js'
import type { ColumnRow, DescribedType } from '../../engines/catalog.js'
import type { StorageName } from '../../engines/storage.js'

/** What else the values of a column may be that are not all of the kind that its type names, the nearest first. */
const wider: Readonly<Partial<Record<StorageName, readonly StorageName[]>>> = {
  boolean: ['integer', 'bigint', 'number'],
  integer: ['bigint', 'number'],
  bigint: ['number'],
  decimal: ['number'],
  datetime: ['integer', 'bigint', 'number'],
  date: ['datetime', 'integer', 'bigint', 'number']
}

/** The kind that all values of a column are of, with what is lost by that; undefined if there is none. All of its rows are looked at. */
export async function heldType (handle: Handle, column: ColumnRow, described: DescribedType): Promise<DescribedType | undefined> {
  if (described.kind === 'datetime' && await holdsDates(handle, column)) return { kind: 'date', options: {}, loss: 'holds dates alone, and is read as date' }
  if (await holdsOnly(handle, column, described.kind)) return described
  for (const kind of wider[described.kind] ?? []) {
    if (!handle.dialect.storage[kind].holds(column.type) || !await holdsOnly(handle, column, kind)) continue
    return { kind, options: {}, loss: `holds values that are no ${described.kind}, and is read as ${kind}` }
  }
  return undefined
}

/** Whether all values of a column are of a kind, as far as its engine lets others in. */
export async function holdsOnly ({ db, dialect: { catalog: { fits } } }: Handle, { table, name }: Pick<ColumnRow, 'table' | 'name'>, kind: StorageName): Promise<boolean> {
  const { [kind]: isOne } = fits
  return isOne === undefined || !await holds(db, table, sql`${sql.ref(name)} is not null and not (${isOne(sql.ref(name))})`)
}

/** Whether a column that may hold moments holds dates alone, and at least one. */
async function holdsDates (handle: Handle, column: ColumnRow): Promise<boolean> {
  const { db, dialect: { catalog: { fits } } } = handle
  return fits.date !== undefined && await holdsOnly(handle, column, 'date') && await holds(db, column.table, sql`${sql.ref(column.name)} is not null`)
}

/** Whether a column holds values that records of a kind would show as null. */
export async function holdsUnshown ({ db, dialect: { storage } }: Handle, { table, name }: ColumnRow, kind: StorageName): Promise<boolean> {
  const { isShown } = storage[kind]
  return isShown !== undefined && await holds(db, table, sql`${sql.ref(name)} is not null and not (${isShown(sql.ref(name))})`)
}

async function holds (db: Handle['db'], table: string, condition: RawBuilder<unknown>): Promise<boolean> {
  try {
    const { rows } = await sql`select 1 from ${sql.table(table)} where ${condition} limit 1`.execute(db)
    return rows.length > 0
  } catch {
    // A server may have no time for a large table: then its type is believed.
    return false
  }
}
