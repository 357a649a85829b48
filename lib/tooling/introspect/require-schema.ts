import { readHandle, type AnyKysely } from '../../database/engine.js'
import { errors } from '../../errors.js'
import { suggestion } from '../../suggest.js'

/** Maximum number of names of schemas in an error. */
const maxNames = 10

/** True if the option `--schema` takes the name of a schema. */
export function isSchemaName (name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name)
}

/**
 * Requires that a database has a schema, and that the database user may use it. Does nothing if the engine has no
 * schemas.
 *
 * @throws REST_MODELS_INVALID_OPTIONS naming the most similar schema; if none is similar, up to ten of those that exist
 */
export async function requireSchema (handle: AnyKysely, schema: string): Promise<void> {
  const { db, dialect: { catalog } } = readHandle(handle)
  const { rows } = await catalog.schemas?.execute(db) ?? { rows: [{ name: schema }] }
  const names = rows.map(({ name }) => name)
  if (names.includes(schema)) return
  const known = names.length === 0 ? 'none' : names.slice(0, maxNames).map((name) => `'${name}'`).join(', ')
  const hint = suggestion(schema, names) || `; it has ${known}${names.length > maxNames ? ' and others' : ''}`
  throw new errors.InvalidOptions(`The database has no schema '${schema}' that its user may read${hint}`)
}
