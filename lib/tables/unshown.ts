import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Engine } from '../database/engine.js'
import { storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'

/** How many rows of a table are looked at when an app starts: a large table must not keep it waiting. */
const sample = 1000

/** Milliseconds after which a look is given up: the table may be locked. */
const patience = 2000

/**
 * The columns of a model that are not nullable, but hold what no record can show, as far as the first rows of the table tell.
 *
 * @param shown  the columns that records show: no others are looked at
 * @returns none as well if the table cannot be looked at, or not now: a warning is not worth a start
 */
export async function unshownColumns (engine: Engine, model: Model, shown: readonly Column[]): Promise<readonly Column[]> {
  const given = new AbortController()
  const found = lookAt(engine, model, shown).catch(() => []).finally(() => { given.abort() })
  return await Promise.race([found, setTimeout(patience, [], { ref: false, signal: given.signal }).catch(() => [])])
}

async function lookAt ({ db, dialect }: Engine, { table }: Model, shown: readonly Column[]): Promise<readonly Column[]> {
  const claims = shown.flatMap((column) => {
    const { isShown } = storageOf(column, dialect)
    return column.nullable || isShown === undefined ? [] : [{ column, holds: sql`max(case when not ${isShown(sql.ref(column.name))} then 1 else 0 end)`.as(column.key) }]
  })
  if (claims.length === 0) return []
  const names = claims.map(({ column: { name } }) => sql.ref(name))
  const { rows: [found] } = await sql<Record<string, unknown>>`
    select ${sql.join(claims.map(({ holds }) => holds))} from (select ${sql.join(names)} from ${sql.table(table)} limit ${sql.lit(sample)}) as first_rows`.execute(db)
  return claims.filter(({ column }) => Number(found?.[column.key]) === 1).map(({ column }) => column)
}
