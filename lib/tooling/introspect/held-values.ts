import { sql, type RawBuilder } from 'kysely'
import type { Handle } from '../../database/engine.js'
import type { ColumnRow } from '../../engines/catalog.js'
import type { DescribedType } from '../../engines/described-types.js'
import type { StorageName } from '../../engines/storage.js'

/** Kinds that a column may have if some of its values do not fit the kind of its type. The nearest kind comes first. */
const widerKinds: Readonly<Partial<Record<StorageName, readonly StorageName[]>>> = {
  boolean: ['integer', 'bigint', 'number'],
  integer: ['bigint', 'number'],
  bigint: ['number'],
  decimal: ['number'],
  datetime: ['integer', 'bigint', 'number'],
  date: ['datetime', 'integer', 'bigint', 'number']
}

/** End of a note: what is lost in a field of the kind number, and how to keep it. */
const rounded = 'only 15 digits are exact, and longer values are shown rounded; ' +
  'a generated column or a view can show them as text'

/** Note about a column of dates that also holds other texts. */
const oddDates = 'holds texts that are no dates: they are shown as they are, and found by no filter for their value'

/**
 * Returns the kind of field that all values of a column fit: the declared one, or the first wider one. A column of
 * dates with time that holds only dates becomes a date. `loss`, if present, says how the kind differs from the declared
 * type. Returns undefined if no kind fits all values. The queries may read all rows of the table. If a query fails, the
 * kind that it tests counts as one that fits.
 */
export async function heldType (
  handle: Handle, column: ColumnRow, described: DescribedType
): Promise<DescribedType | undefined> {
  if (described.kind === 'datetime' && await holdsDates(handle, column)) {
    return { kind: 'date', options: {}, loss: 'holds only dates, and becomes a date' }
  }
  if (await holdsOnly(handle, column, described.kind)) return described
  if (described.kind === 'date' && await holdsOddDates(handle, column)) return { ...described, loss: oddDates }
  for (const kind of widerKinds[described.kind] ?? []) {
    if (!handle.dialect.storage[kind].holds(column.type) || !await holdsOnly(handle, column, kind)) continue
    const loss = `holds values that do not fit ${described.kind}, and becomes ${kind}`
    return { kind, options: {}, loss: kind === 'number' ? `${loss}: ${rounded}` : loss }
  }
  return undefined
}

/**
 * True if all values of a column fit a kind; nulls do not count. Also true if the query fails, for example because it
 * takes too long. Reads no rows if the engine accepts only such values in the column.
 */
export async function holdsOnly (
  { db, dialect: { catalog: { fits } } }: Handle, { table, name }: Pick<ColumnRow, 'table' | 'name'>, kind: StorageName
): Promise<boolean> {
  const { [kind]: isOne } = fits
  if (isOne === undefined) return true
  return !await holds(db, table, sql`${sql.ref(name)} is not null and not (${isOne(sql.ref(name))})`)
}

/**
 * True if a column that is declared nullable cannot be a primary key. On SQLite, where a primary key may be declared
 * nullable, this is so only if a row holds null; false if the query for such a row fails. On other engines, no nullable
 * column can be in a primary key, so the result is true without a query.
 */
export async function holdsNull ({ db, dialect: { schema } }: Handle, { table, name }: ColumnRow): Promise<boolean> {
  return schema.keysMayBeNull !== true || await holds(db, table, sql`${sql.ref(name)} is null`)
}

/** True if a column of integers holds negative ones. False if the query fails. */
export async function holdsNegative ({ db }: Pick<Handle, 'db'>, { table, name }: ColumnRow): Promise<boolean> {
  return await holds(db, table, sql`${sql.ref(name)} < 0`)
}

/**
 * True if a column whose type is a date with time holds only dates, and at least one. Always false on PostgreSQL and
 * MariaDB, where such a column always holds a time.
 */
async function holdsDates (handle: Handle, column: ColumnRow): Promise<boolean> {
  const { db, dialect: { catalog: { fits } } } = handle
  return fits.date !== undefined && await holdsOnly(handle, column, 'date') &&
    await holds(db, column.table, sql`${sql.ref(column.name)} is not null`)
}

/**
 * True if a column of dates holds only texts, of which none has a time, so that a datetime field would fit them no
 * better than a date field.
 */
async function holdsOddDates (handle: Handle, column: ColumnRow): Promise<boolean> {
  const { db, dialect: { catalog: { hasTime } } } = handle
  return hasTime !== undefined && await holdsOnly(handle, column, 'datetime') &&
    !await holds(db, column.table, hasTime(sql.ref(column.name)))
}

/**
 * True if a column holds values that are not null, but that records show as null if its field has the given kind. False
 * if the query fails, for example because it takes too long.
 */
export async function holdsUnshown (
  { db, dialect: { storage } }: Handle, { table, name }: ColumnRow, kind: StorageName
): Promise<boolean> {
  const { isShown } = storage[kind]
  if (isShown === undefined) return false
  return await holds(db, table, sql`${sql.ref(name)} is not null and not (${isShown(sql.ref(name))})`)
}

async function holds (db: Handle['db'], table: string, condition: RawBuilder<unknown>): Promise<boolean> {
  try {
    const { rows } = await sql`select 1 from ${sql.table(table)} where ${condition} limit 1`.execute(db)
    return rows.length > 0
  } catch {
    // On a large table the query may exceed the server's time-out. The declared type is then believed.
    return false
  }
}
