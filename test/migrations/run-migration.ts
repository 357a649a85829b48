import type { Kysely } from 'kysely'
import type { Tables } from '../../lib/engines/executor.js'

type Step = (db: Kysely<Tables>) => Promise<void>

/** Imports the text of a migration, as a file of it would be. */
export async function importMigration (source: string): Promise<{ readonly up: Step, readonly down: Step }> {
  const text = source.replace("from 'kysely'", `from '${import.meta.resolve('kysely')}'`)
  return await import(`data:text/javascript,${encodeURIComponent(text)}`)
}
