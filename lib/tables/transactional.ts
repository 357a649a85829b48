import { readHandle, type AnyKysely } from '../database/engine.js'
import { errors } from '../errors.js'
import type { Model } from '../model/model.js'
import type { PermittedWrites } from './enforceable.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Finds the tables that clients may write to although they have no transactions, such as MyISAM tables of MariaDB.
 * Without a transaction, a write that the API refuses after making it cannot be undone.
 *
 * @returns the reason and the remedy for each model of such a table. The text continues a sentence that begins with the
 *   name of the table: `is kept by the storage engine MyISAM, …`
 */
export async function findUntransactional (
  handle: AnyKysely, tables: DatabaseTables, writes: readonly PermittedWrites[]
): Promise<ReadonlyMap<Model, string>> {
  const { db, dialect: { catalog } } = readHandle(handle)
  const { rows } = await catalog.tablesWithoutTransactions?.execute(db) ?? { rows: [] }
  return new Map(rows.flatMap((row) => writes
    .filter(({ model, operations }) => operations.length > 0 && tables.isSameTable(model, row))
    .map(({ model }) => [model, row.why] as const)))
}

/**
 * Checks that the tables that clients may write to have transactions, as {@link findUntransactional} tells.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the tables and the remedy
 */
export async function requireTransactional (
  handle: AnyKysely, tables: DatabaseTables, writes: readonly PermittedWrites[]
): Promise<void> {
  const found = await findUntransactional(handle, tables, writes)
  if (found.size === 0) return
  const lines = [...found].map(([{ table }, why]) => `- table '${table}' ${why}`)
  throw new errors.TableMismatch('The database would keep writes that the API refuses, and If-Match would protect ' +
    `nothing:\n${[...new Set(lines)].join('\n')}\nConvert each table, or close the writes to it in the policy`)
}
