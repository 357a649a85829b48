import { sql, type RawBuilder } from 'kysely'
import { readHandle, type AnyKysely } from '../database/engine.js'
import { failureKind } from '../engines/statement-failure.js'
import { errors, messageOf } from '../errors.js'
import { isFilledByDatabase, type Column } from '../model/column.js'
import { keyColumnsOf } from '../model/key.js'
import type { Model } from '../model/model.js'
import type { DatabaseTables } from './read-tables.js'

/** The writes of clients to the table of a model. */
export interface PermittedWrites {
  readonly model: Model
  /** Those of `create`, `update` and `delete` that the policy does not refuse to everybody. */
  readonly operations: readonly string[]
  /**
   * Columns that no update sets: the owner, and read-only columns that no hook may set. The key, and the columns that
   * only the database fills, need not be listed: no update sets these either.
   */
  readonly kept: readonly Column[]
}

/** A write that the database refuses whatever a client sends, and why, in the words of the database. */
export interface ImpossibleWrite {
  readonly model: Model
  readonly operation: 'create' | 'update' | 'delete'
  readonly why: string
}

/**
 * Finds the writes that SQLite refuses whatever their values, because of a foreign key, a trigger, or a view without a
 * trigger. SQLite lets a foreign key refer to a table or columns that do not exist, or to columns that are not unique.
 * It then refuses writes to the tables on both sides of the foreign key, and other writes that cause these by a trigger
 * or `on delete cascade`. To find them, this function lets SQLite plan a write of each kind by `explain`, which does
 * not execute it. Returns none for other engines, where a foreign key needs a table that exists.
 */
export async function findRefused (
  handle: AnyKysely, tables: DatabaseTables, writes: readonly PermittedWrites[]
): Promise<readonly ImpossibleWrite[]> {
  const { db, dialect } = readHandle(handle)
  const refused: ImpossibleWrite[] = []
  if (dialect.schema.needsTargets) return refused
  for (const { model, operations, kept } of writes) {
    for (const [operation, statement] of statementsOf(model, kept, tables.isView(model))) {
      if (!operations.includes(operation)) continue
      await sql`explain ${statement}`.execute(db).catch((failure: unknown) => {
        // A lock, or a file that cannot be read, says nothing of the statement.
        if (failureKind(dialect, failure) !== undefined) throw failure
        refused.push({ model, operation, why: messageOf(failure) })
      })
    }
  }
  return refused
}

/**
 * Checks that the database does not refuse every write of a kind that clients may make, as {@link findRefused} tells.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the tables and the remedy
 */
export async function requireEnforceable (
  handle: AnyKysely, tables: DatabaseTables, writes: readonly PermittedWrites[]
): Promise<void> {
  const refused = await findRefused(handle, tables, writes)
  if (refused.length === 0) return
  const lines = refused.map(({ model: { table }, operation, why }) => `- ${operation} in table '${table}': ${why}`)
  throw new errors.TableMismatch(`The database would refuse all of these writes:\n${[...new Set(lines)].join('\n')}\n` +
    'A foreign key needs a table to refer to, with a primary key or unique index of exactly the columns that it ' +
    "refers to, a trigger the tables that it names, and a view a trigger 'instead of' each operation. " +
    'Add what is missing, or close these operations in the policy')
}

/**
 * Returns a write of each kind, without an update if that would set no column. For a table, each has `returning`, as
 * the writes of requests have, because SQLite then checks more foreign keys. For a view that has any trigger, SQLite
 * would then permit every write, also one without a trigger of its own, which changes nothing.
 */
function statementsOf (
  model: Model, kept: PermittedWrites['kept'], isView: boolean
): ReadonlyArray<readonly [ImpossibleWrite['operation'], RawBuilder<unknown>]> {
  const table = sql.table(model.table)
  const returning = isView ? sql`` : sql`returning 1`
  const never = [...keyColumnsOf(model), ...kept]
  const values = model.columns
    .filter((column) => !(isFilledByDatabase(column) || never.includes(column)))
    .map(({ name }) => sql`${sql.ref(name)} = ${sql.ref(name)}`)
  const update = sql`update ${table} set ${sql.join(values)} ${returning}`
  return [
    ['create', sql`insert into ${table} default values ${returning}`],
    ...values.length === 0 ? [] : [['update', update] as const],
    ['delete', sql`delete from ${table} ${returning}`]
  ]
}
