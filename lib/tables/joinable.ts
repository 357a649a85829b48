import { sql, type RawBuilder } from 'kysely'
import { readHandle, type AnyKysely } from '../database/engine.js'
import { errors } from '../errors.js'
import type { Model } from '../model/define-model.js'
import { nameField } from './compare-tables.js'
import { findFaultOf } from './explain.js'
import { referencesOf } from './foreign-keys.js'
import type { Reference } from './plan-tables.js'

/**
 * Checks that a server can compare each foreign key with the key that it refers to. PostgreSQL does not compare a text
 * with a UUID, nor MariaDB two texts of different collations. A request that joins the tables would then fail.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the foreign keys and the remedy
 */
export async function requireJoinable (handle: AnyKysely, models: Iterable<Model>): Promise<void> {
  const { incomparableCodes } = readHandle(handle).dialect
  if (incomparableCodes === undefined) return
  const lines: string[] = []
  for (const reference of [...models].flatMap((model) => referencesOf(model))) {
    const { model, column } = reference
    const why = await findFaultOf(incomparableCodes, handle, joinOf(reference))
    if (why !== undefined) lines.push(`- ${nameField(model, column)} refers to model '${column.target().name}': ${why}`)
  }
  if (lines.length === 0) return
  throw new errors.TableMismatch('The database cannot compare these foreign keys with the keys that they refer to:\n' +
    `${lines.join('\n')}\nGive the column of each foreign key the type and the collation of the key`)
}

function joinOf ({ model, column }: Reference): RawBuilder<unknown> {
  const target = column.target()
  const isReferred = sql`${sql.ref(`target.${target.primaryKey.name}`)} = ${sql.ref(`source.${column.name}`)}`
  return sql`select 1 from ${sql.table(model.table)} as source
    join ${sql.table(target.table)} as target on ${isReferred}`
}
