import { sql } from 'kysely'
import { storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Engine } from '../query/engine.js'

/** How many rows of a table are looked at when an app starts: a large table must not keep it waiting. */
const sample = 1000

/** The columns of a model that are not nullable, but hold what no record can show, as far as the first rows of the table tell. */
export async function unshownColumns ({ db, dialect }: Engine, { table, columns }: Model): Promise<readonly Column[]> {
  const claims = columns.flatMap((column) => {
    const { isShown } = storageOf(column, dialect)
    return column.nullable || isShown === undefined ? [] : [{ column, holds: sql`max(case when not ${isShown(sql.ref(column.name))} then 1 else 0 end)`.as(column.key) }]
  })
  if (claims.length === 0) return []
  const names = claims.map(({ column: { name } }) => sql.ref(name))
  const { rows: [found] } = await sql<Record<string, unknown>>`
    select ${sql.join(claims.map(({ holds }) => holds))} from (select ${sql.join(names)} from ${sql.table(table)} limit ${sql.lit(sample)}) as first_rows`.execute(db)
  return claims.filter(({ column }) => Number(found?.[column.key]) === 1).map(({ column }) => column)
}
