import { sql } from 'kysely'
import type { Engine } from '../database/engine.js'
import { withinTime } from '../database/host-failure.js'
import { storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'

/**
 * Maximum number of rows of a table that {@link unshownColumns} checks. The check runs when an app starts, and a large
 * table must not keep the app waiting.
 */
const sampleSize = 1000

/**
 * Milliseconds that {@link unshownColumns} waits for its query of one table, which may be locked. After that it returns
 * no column of this table.
 */
const maxCheckMs = 2000

/**
 * Finds the columns of a model that are not nullable, but hold values that no record can show, such as infinity. It
 * checks the first 1000 rows of the table.
 *
 * @param shown  the columns that records show; no others are checked
 * @returns none if the table cannot be read, or not within 2 seconds: this check must not keep an app from starting
 */
export async function unshownColumns (
  engine: Engine, model: Model, shown: readonly Column[]
): Promise<readonly Column[]> {
  try {
    return await withinTime(maxCheckMs, 'The check for values that no record shows', () => lookAt(engine, model, shown))
  } catch {
    return []
  }
}

async function lookAt (
  { db, dialect }: Engine, { table }: Model, shown: readonly Column[]
): Promise<readonly Column[]> {
  const claims = shown.flatMap((column) => {
    const { isShown } = storageOf(column, dialect)
    if (column.nullable || isShown === undefined) return []
    const isUnshown = sql`not (${isShown(sql.ref(column.name))})`
    return [{ column, holds: sql`max(case when ${isUnshown} then 1 else 0 end)`.as(column.key) }]
  })
  if (claims.length === 0) return []
  const names = claims.map(({ column: { name } }) => sql.ref(name))
  const { rows: [found] } = await sql<Record<string, unknown>>`
    select ${sql.join(claims.map(({ holds }) => holds))}
    from (select ${sql.join(names)} from ${sql.table(table)} limit ${sql.lit(sampleSize)}) as first_rows`.execute(db)
  return claims.filter(({ column }) => Number(found?.[column.key]) === 1).map(({ column }) => column)
}
