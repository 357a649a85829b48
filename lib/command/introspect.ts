import { writeFileSync } from 'node:fs'
import { introspect } from '../introspection/introspect.js'
import { describeNote } from '../introspection/write-models.js'
import type { CommandRow } from './command-row.js'
import { openDatabase } from './open-database.js'

interface Options {
  readonly output?: string
  readonly table?: readonly string[]
}

export const introspectCommand: CommandRow<Options> = {
  summary: 'write a TypeScript file of models for the tables of a database, which is only read',
  argument: { name: 'database-url', description: 'sqlite:./site.db, postgres://user:password@host:port/database or mariadb://…' },
  options: [
    { flags: '-o, --output <file>', description: 'the file to write; standard output if absent' },
    { flags: '-t, --table <names...>', description: 'only these tables' }
  ],
  run: async (url, { output, table: tables }, { out, err }) => {
    const db = await openDatabase(url)
    try {
      const { source, models, notes } = await introspect(db, tables && { tables })
      for (const note of notes) err(describeNote(note))
      if (output === undefined) {
        out(source.trimEnd())
      } else {
        writeFileSync(output, source)
        err(`${models.length} models are in ${output}`)
      }
      return 'success'
    } finally {
      await db.destroy()
    }
  }
}
