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

/** A write of clients, and a statement that writes to the same columns. */
interface PlannedWrite extends Pick<ImpossibleWrite, 'model' | 'operation'> {
  readonly statement: RawBuilder<unknown>
}

/**
 * Finds the writes that the database refuses whatever their values: on SQLite because of a foreign key, a trigger or a
 * view without triggers, on other engines because a view is not updatable. On those, a foreign key needs a table that
 * exists.
 */
export async function findRefused (
  handle: AnyKysely, tables: DatabaseTables, writes: readonly PermittedWrites[]
): Promise<readonly ImpossibleWrite[]> {
  const planned = writes.flatMap((write) =>
    plansOf(write, tables).filter(({ operation }) => write.operations.includes(operation)))
  const { db, dialect: { catalog } } = readHandle(handle)
  if (catalog.refusedByViews === undefined) return await refusedPlans(handle, planned)
  const toViews = planned.filter(({ model }) => tables.isView(model))
  if (toViews.length === 0) return []
  const { rows } = await catalog.refusedByViews.execute(db)
  return toViews.flatMap(({ model, operation }) => rows
    .filter((row) => row.operation === operation && tables.isSameTable(model, row))
    .map(({ why }) => ({ model, operation, why })))
}

/**
 * Finds the writes that SQLite refuses to plan. SQLite lets a foreign key refer to a table or columns that do not
 * exist, or to columns that are not unique. It then refuses writes to the tables on both sides of the foreign key, and
 * other writes that cause these by a trigger or `on delete cascade`. `explain` plans a statement without executing it.
 */
async function refusedPlans (
  handle: AnyKysely, planned: readonly PlannedWrite[]
): Promise<readonly ImpossibleWrite[]> {
  const { db, dialect } = readHandle(handle)
  const refused: ImpossibleWrite[] = []
  for (const { model, operation, statement } of planned) {
    await sql`explain ${statement}`.execute(db).catch((failure: unknown) => {
      // A lock, or a file that cannot be read, says nothing of the statement.
      if (failureKind(dialect, failure) !== undefined) throw failure
      refused.push({ model, operation, why: messageOf(failure) })
    })
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
    'refers to, a trigger the tables that it names, and a view a trigger \'instead of\' each operation. ' +
    'Add what is missing, or close these operations in the policy')
}

/** Returns a write of each kind for SQLite to plan, without an update if that would set no column. */
function plansOf ({ model, kept }: PermittedWrites, tables: DatabaseTables): readonly PlannedWrite[] {
  const table = sql.table(model.table)
  // With `returning`, which the writes of requests have, SQLite checks more foreign keys of a table. But to a view with
  // any trigger it then permits every write, also one without a trigger of its own, which changes nothing.
  const returning = tables.isView(model) ? sql`` : sql`returning 1`
  const never = [...keyColumnsOf(model), ...kept]
  const values = model.columns
    .filter((column) => !(isFilledByDatabase(column) || never.includes(column)))
    .map(({ name }) => sql`${sql.ref(name)} = ${sql.ref(name)}`)
  const update = sql`update ${table} set ${sql.join(values)} ${returning}`
  return [
    { model, operation: 'create', statement: sql`insert into ${table} default values ${returning}` },
    ...values.length === 0 ? [] : [{ model, operation: 'update', statement: update } as const],
    { model, operation: 'delete', statement: sql`delete from ${table} ${returning}` }
  ]
}
