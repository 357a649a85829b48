import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../engines/executor.js'

/** Maximum number of rows of a table that are counted. Counting all rows would read a large table whole. */
export const maxCounted = 100_000

/** Counts the rows of tables: each table once, and at most {@link maxCounted} of its rows. */
export class TableSizes {
  readonly #sizes = new Map<Kysely<Tables>, Map<string, number>>()

  /** Returns the number of rows of a table, or {@link maxCounted} if it has more. */
  async sizeOf (db: Kysely<Tables>, table: string): Promise<number> {
    const known = this.#sizes.get(db) ?? new Map<string, number>()
    this.#sizes.set(db, known)
    const size = known.get(table) ?? await countRows(db, table)
    known.set(table, size)
    return size
  }
}

async function countRows (db: Kysely<Tables>, table: string): Promise<number> {
  const { rows: [found] } = await sql<{ readonly size: number | string | bigint }>`
    select count(*) as size
    from (select 1 as one from ${sql.table(table)} limit ${sql.lit(maxCounted)}) as first_rows`.execute(db)
  return Number(found?.size)
}
