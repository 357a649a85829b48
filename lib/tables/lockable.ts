import { sql } from 'kysely'
import { readHandle, type AnyKysely } from '../database/engine.js'
import { errors } from '../errors.js'
import type { Model } from '../model/model.js'
import { findFaultOf } from './explain.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Checks that PostgreSQL can lock single rows of the views of models. It refuses to lock rows of some views, such as
 * one with `group by`, and locks no row of those with `union` or `with`. Checks nothing on other engines: SQLite locks
 * the whole database, and the views of MariaDB that take writes can be locked.
 *
 * @param models  those of the resources whose updates or deletes lock the record first
 * @throws REST_MODELS_TABLE_MISMATCH naming the models, the views and the remedy
 */
export async function requireLockable (
  handle: AnyKysely, tables: DatabaseTables, models: readonly Model[]
): Promise<void> {
  const { db, dialect: { catalog: { unlockedViews }, unlockableCodes = [] } } = readHandle(handle)
  const views = models.filter((model) => tables.isView(model))
  if (unlockedViews === undefined || views.length === 0) return
  const { rows } = await unlockedViews.execute(db)
  const findWhy = async (model: Model): Promise<string | undefined> =>
    rows.some((row) => tables.isSameTable(model, row))
      ? "the view has 'union' or 'with'"
      : await findFaultOf(unlockableCodes, handle, sql`select 1 from ${sql.table(model.table)} for update`)
  const lines: string[] = []
  for (const model of views) {
    const why = await findWhy(model)
    if (why !== undefined) lines.push(`- model '${model.name}', view '${model.table}': ${why}`)
  }
  if (lines.length === 0) return
  throw new errors.TableMismatch("Updates and deletes with hooks or 'etag' lock the record, but the database cannot " +
    `lock rows of these views:\n${[...new Set(lines)].join('\n')}\n` +
    "Name a table, or a view that selects from tables without these clauses. Or leave out hooks and 'etag', or close " +
    'updates and deletes in the policy')
}
