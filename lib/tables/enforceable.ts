import { sql, type RawBuilder } from 'kysely'
import { readHandle, type AnyKysely } from '../database/engine.js'
import { errors } from '../errors.js'
import { isFilledByDatabase, isGenerated, type Column } from '../model/column.js'
import { keyColumnsOf } from '../model/key.js'
import type { Model } from '../model/model.js'
import { findFault } from './explain.js'
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

/** A write for SQLite to plan. */
interface ExplainedWrite {
  readonly operation: ImpossibleWrite['operation']
  readonly statement: RawBuilder<unknown>
  /** Updates of one column each, with its name, of a view. A trigger may be there for some columns alone. */
  readonly columns?: ReadonlyArray<readonly [name: string, statement: RawBuilder<unknown>]>
}

const unknownKey = 'SQLite does not tell which key a view has generated, so clients must give it, as with ' +
  'key({ generated: false })'

/**
 * Finds the writes that SQLite refuses whatever their values, because of a foreign key, a trigger, or a view without a
 * trigger. SQLite lets a foreign key refer to a table or columns that do not exist, or to columns that are not unique.
 * It then refuses writes to the tables on both sides of the foreign key, and other writes that cause these by a trigger
 * or `on delete cascade`. To find them, this function lets SQLite plan a write of each kind by `explain`, which does
 * not execute it. A create in a view that generates the key counts as refused, too: SQLite does not tell that key.
 * Returns none for other engines, where a foreign key needs a table that exists.
 */
export async function findRefused (
  handle: AnyKysely, tables: DatabaseTables, writes: readonly PermittedWrites[]
): Promise<readonly ImpossibleWrite[]> {
  const { dialect } = readHandle(handle)
  const refused: ImpossibleWrite[] = []
  if (dialect.schema.needsTargets) return refused
  for (const { model, operations, kept } of writes) {
    const isView = tables.isView(model)
    for (const write of writesTo(model, kept, isView)) {
      const { operation } = write
      if (!operations.includes(operation)) continue
      for (const why of await findFaults(handle, write)) refused.push({ model, operation, why })
    }
    if (isView && operations.includes('create') && keyColumnsOf(model).some(isGenerated)) {
      refused.push({ model, operation: 'create', why: unknownKey })
    }
  }
  return refused
}

/** Returns why SQLite refuses a write; for one of single columns, a reason for each. Empty if it permits the write. */
async function findFaults (handle: AnyKysely, { statement, columns }: ExplainedWrite): Promise<readonly string[]> {
  const fault = await findFault(handle, statement)
  if (fault !== undefined) return [fault]
  const faults: string[] = []
  for (const [name, alone] of columns ?? []) {
    const why = await findFault(handle, alone)
    if (why !== undefined) faults.push(`${why} (column '${name}')`)
  }
  return faults
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
    "refers to, a trigger the tables that it names, and a view a trigger 'instead of' each operation and column. " +
    'Add what is missing, or close these operations in the policy; a column can be read-only')
}

/**
 * Returns a write of each kind, without an update if that would set no column. For a table, each has `returning`, as
 * the writes of requests have, because SQLite then checks more foreign keys. For a view that has any trigger, SQLite
 * would then permit every write, also one without a trigger of its own, which changes nothing.
 */
function writesTo (model: Model, kept: PermittedWrites['kept'], isView: boolean): readonly ExplainedWrite[] {
  const table = sql.table(model.table)
  const returning = isView ? sql`` : sql`returning 1`
  const never = [...keyColumnsOf(model), ...kept]
  const values = model.columns
    .filter((column) => !(isFilledByDatabase(column) || never.includes(column)))
    .map(({ name }) => [name, sql`${sql.ref(name)} = ${sql.ref(name)}`] as const)
  const update = (...set: ReadonlyArray<RawBuilder<unknown>>) => sql`update ${table} set ${sql.join(set)} ${returning}`
  const statement = update(...values.map(([, value]) => value))
  const columns = values.map(([name, value]) => [name, update(value)] as const)
  return [
    { operation: 'create', statement: sql`insert into ${table} default values ${returning}` },
    ...values.length === 0 ? [] : [{ operation: 'update', statement, ...isView && { columns } } as const],
    { operation: 'delete', statement: sql`delete from ${table} ${returning}` }
  ]
}
