import { sql, type RawBuilder } from 'kysely'
import { readHandle, type AnyKysely } from '../database/engine.js'
import { errors, messageOf } from '../errors.js'
import type { Model } from '../model/define-model.js'
import { nameField } from './compare-tables.js'
import { referencesOf } from './foreign-keys.js'
import type { Reference } from './plan-tables.js'

/**
 * Checks that a server can compare each foreign key with the key that it refers to. PostgreSQL does not compare a text
 * with a UUID, nor MariaDB two texts of different collations. A request that joins the tables would then fail.
 *
 * @throws REST_MODELS_TABLE_MISMATCH naming the foreign keys and the remedy
 */
export async function requireJoinable (handle: AnyKysely, models: Iterable<Model>): Promise<void> {
  const { db, dialect: { codesOf, incomparableCodes } } = readHandle(handle)
  if (incomparableCodes === undefined) return
  const lines: string[] = []
  const note = ({ model, column }: Reference) => (failure: unknown) => {
    // Without a grant for one of the tables, nothing is known.
    if (!(failure instanceof Error && codesOf(failure).some((code) => incomparableCodes.includes(code)))) return
    lines.push(`- ${nameField(model, column)} refers to model '${column.target().name}': ${messageOf(failure)}`)
  }
  for (const reference of [...models].flatMap((model) => referencesOf(model))) {
    await sql`explain ${joinOf(reference)}`.execute(db).catch(note(reference))
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
