import { readHandle, type AnyKysely } from '../database/engine.js'
import { errors } from '../errors.js'
import type { Model } from '../model/model.js'
import type { PermittedWrites } from './enforceable.js'
import type { DatabaseTables } from './read-tables.js'

/**
 * Matches the clause of a unique index or primary key by which SQLite deletes the record that has the same values. The
 * same words after `not null` only replace a null by the default. See https://sqlite.org/lang_conflict.html.
 */
const clause = /(?<!\bnull\s+)\bon\s+conflict\s+replace\b/i

/**
 * Finds the tables in which clients may create or update records, and where SQLite would then delete another record
 * that has the same values, by `on conflict replace`. Neither the owner nor the scope would protect that record. A
 * statement could override the clause (`insert or abort`), but would also override those of statements in triggers. The
 * other clauses, such as `on conflict ignore`, keep the other record, and the write is answered with 409.
 *
 * @returns the models of these tables
 */
export async function findReplacing (
  handle: AnyKysely, tables: DatabaseTables, writes: readonly PermittedWrites[]
): Promise<ReadonlySet<Model>> {
  const { db, dialect: { catalog, quoted } } = readHandle(handle)
  const { rows } = await catalog.replacing?.execute(db) ?? { rows: [] }
  const replacing = rows.filter(({ statement }) => clause.test(statement.replace(quoted, ' ')))
  return new Set(writes
    .filter(({ operations }) => operations.includes('create') || operations.includes('update'))
    .map(({ model }) => model)
    .filter((model) => replacing.some((row) => tables.isSameTable(model, row))))
}

/**
 * Checks that no create or update of a client deletes another record, as {@link findReplacing} tells.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the tables and the remedy
 */
export async function requireNotReplacing (
  handle: AnyKysely, tables: DatabaseTables, writes: readonly PermittedWrites[]
): Promise<void> {
  const found = await findReplacing(handle, tables, writes)
  if (found.size === 0) return
  const lines = [...found].map(({ table }) => `- table '${table}' has a constraint 'on conflict replace'`)
  throw new errors.TableMismatch('A create or update would delete another record that has the same values, whoever ' +
    `owns it:\n${[...new Set(lines)].join('\n')}\n` +
    'Make each table anew without these words, or close creates and updates in the policy')
}
