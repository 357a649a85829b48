import { sql, type RawBuilder } from 'kysely'
import { readHandle, type AnyKysely } from '../database/engine.js'
import type { Dialect } from '../engines/dialect.js'
import { isFilledByDatabase, isGenerated } from '../model/column.js'
import { keyColumnsOf } from '../model/key.js'
import type { Model } from '../model/model.js'
import { findFault, type ImpossibleWrite } from './enforceable.js'

/**
 * Finds the writes that a server refuses to its user whatever their values: those for which the user has no grant, and
 * on PostgreSQL those that a conditional rule `do instead` keeps from returning a row. To find them, lets the server
 * plan a write of each kind by `explain`, which does not execute it. An update counts as refused if it is for each
 * column by itself. Returns none for SQLite, which has neither grants nor rules.
 */
export async function findDenied (handle: AnyKysely, models: readonly Model[]): Promise<readonly ImpossibleWrite[]> {
  const { dialect } = readHandle(handle)
  const denied: ImpossibleWrite[] = []
  if (dialect.isEmbedded) return denied
  for (const model of models) {
    for (const [operation, statements] of Object.entries(writesTo(model, dialect))) {
      const why = await firstFault(handle, statements)
      if (why !== undefined) denied.push({ model, operation: operation as ImpossibleWrite['operation'], why })
    }
  }
  return denied
}

/** Returns why the server refuses all of the statements, as it says of the first one; undefined if it permits one. */
async function firstFault (
  handle: AnyKysely, statements: ReadonlyArray<RawBuilder<unknown>>
): Promise<string | undefined> {
  let first: string | undefined
  for (const statement of statements) {
    const fault = await findFault(handle, statement)
    if (fault === undefined) return undefined
    first ??= fault
  }
  return first
}

/** Returns statements for each kind of write, with `returning` if the writes of requests have it. */
function writesTo (
  model: Model, { returnsUpdates, emptyRow }: Dialect
): Readonly<Record<ImpossibleWrite['operation'], ReadonlyArray<RawBuilder<unknown>>>> {
  const table = sql.table(model.table)
  const returning = returnsUpdates ? sql`returning 1` : sql``
  const written = [...new Set([...keyColumnsOf(model), ...model.columns])]
    .filter((column) => !isFilledByDatabase(column) && !isGenerated(column))
  const names = sql.join(written.map(({ name }) => sql.id(name)))
  const updated = written.filter((column) => !keyColumnsOf(model).includes(column))
  const values = written.length === 0 ? emptyRow : sql`(${names}) select ${names} from ${table}`
  return {
    create: [sql`insert into ${table} ${values} ${returning}`],
    update: updated.map(({ name }) => sql`update ${table} set ${sql.id(name)} = ${sql.id(name)} ${returning}`),
    delete: [sql`delete from ${table}`]
  }
}
