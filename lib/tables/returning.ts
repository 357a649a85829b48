import { readHandle, type AnyKysely } from '../database/engine.js'
import { errors } from '../errors.js'
import type { PermittedWrites } from './enforceable.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Checks that no rule of PostgreSQL keeps the creates and updates of clients from returning the record. Checks nothing
 * on other engines, which have no rules.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the operations, the tables and the remedy
 */
export async function requireReturning (
  handle: AnyKysely, tables: DatabaseTables, writes: readonly PermittedWrites[]
): Promise<void> {
  const { db, dialect: { catalog } } = readHandle(handle)
  const { rows } = await catalog.unreturned?.execute(db) ?? { rows: [] }
  const lines = writes.flatMap(({ model, operations }) => rows
    .filter((row) => operations.includes(row.operation) && tables.isSameTable(model, row))
    .map(({ operation }) => `- ${operation} in table '${model.table}'`))
  if (lines.length === 0) return
  throw new errors.TableMismatch("A rule 'do instead' keeps the database from returning the record, so that all of " +
    `these writes would fail:\n${[...new Set(lines)].join('\n')}\n` +
    "Use a trigger instead of the rule, or give it 'returning' and no condition, or close the operations in the policy")
}
