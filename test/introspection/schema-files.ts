import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('schemas/', import.meta.url)

/** A schema that another program writes, as the statements of one engine. */
export interface SchemaFile {
  readonly name: string
  readonly statements: readonly string[]
}

/** The schemas of `schemas/` for an engine; the README there says where each comes from. */
export function readSchemas (engine: string): SchemaFile[] {
  const ending = `.${engine}.sql`
  return readdirSync(folder).filter((file) => file.endsWith(ending)).sort().map((file) => ({
    name: file.slice(0, -ending.length),
    statements: readFileSync(new URL(file, folder), 'utf8').split(/;\s*\n/).filter((text) => text.trim() !== '')
  }))
}
