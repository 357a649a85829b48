import { sql, type RawBuilder } from 'kysely'
import { readHandle, type AnyKysely } from '../database/engine.js'
import type { Dialect } from '../engines/dialect.js'
import { isWrittenByApi, type Column } from '../model/column.js'
import { keyColumnsOf } from '../model/key.js'
import type { Model } from '../model/model.js'
import type { ImpossibleWrite } from './enforceable.js'
import { findFault } from './explain.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Finds the writes that a server refuses to its user whatever their values: those for which the user has no grant, and
 * on PostgreSQL those that a conditional rule `do instead` keeps from returning a row. To find them, lets the server
 * plan a write of each kind by `explain`, which does not execute it. An update counts as refused if it is for each
 * column by itself. Returns none for SQLite, which has neither grants nor rules.
 */
export async function findDenied (
  handle: AnyKysely, tables: DatabaseTables, models: readonly Model[]
): Promise<readonly ImpossibleWrite[]> {
  const { dialect } = readHandle(handle)
  const denied: ImpossibleWrite[] = []
  if (dialect.isEmbedded) return denied
  const numberless = await findNumberless(handle, tables, models)
  for (const model of models) {
    for (const [operation, statements] of Object.entries(writesTo(model, dialect))) {
      const why = await firstFault(handle, statements) ?? (operation === 'create' ? numberless.get(model) : undefined)
      if (why !== undefined) denied.push({ model, operation: operation as ImpossibleWrite['operation'], why })
    }
  }
  return denied
}

/**
 * Finds the tables whose creates take a number from a sequence that the user may not use. `explain` does not tell this,
 * because the number is taken only when the statement is executed.
 */
async function findNumberless (
  handle: AnyKysely, tables: DatabaseTables, models: readonly Model[]
): Promise<ReadonlyMap<Model, string>> {
  const { db, dialect: { catalog, foldName } } = readHandle(handle)
  const { rows } = await catalog.deniedSequences?.execute(db) ?? { rows: [] }
  return new Map(models.flatMap((model) => {
    const names = createdBy(model).map(({ name }) => foldName(name))
    const row = rows.find((row) => tables.isSameTable(model, row) && !names.includes(foldName(row.column)))
    return row === undefined ? [] : [[model, `permission denied for sequence ${row.sequence}`] as const]
  }))
}

/** Returns the columns to which a create of the API gives a value. */
function createdBy (model: Model): readonly Column[] {
  return [...new Set([...keyColumnsOf(model), ...model.columns])].filter(isWrittenByApi)
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
  const written = createdBy(model)
  const names = sql.join(written.map(({ name }) => sql.id(name)))
  const updated = written.filter((column) => !keyColumnsOf(model).includes(column))
  const values = written.length === 0 ? emptyRow : sql`(${names}) select ${names} from ${table}`
  return {
    create: [sql`insert into ${table} ${values} ${returning}`],
    update: updated.map(({ name }) => sql`update ${table} set ${sql.id(name)} = ${sql.id(name)} ${returning}`),
    delete: [sql`delete from ${table}`]
  }
}
