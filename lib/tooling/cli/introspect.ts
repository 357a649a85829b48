import { existsSync, writeFileSync } from 'node:fs'
import { errors } from '../../errors.js'
import { introspect } from '../introspect/introspect.js'
import { describeNote } from '../introspect/write-models.js'
import type { CommandRow } from './command-row.js'
import { openDatabase } from './open-database.js'

interface Options {
  readonly output?: string
  readonly force?: true
  readonly table?: readonly string[]
}

export const introspectCommand: CommandRow<Options> = {
  summary: 'write a TypeScript file with models for the tables of a database, without changing the database',
  arguments: [{
    name: 'database-url',
    description: 'sqlite:./site.db, postgres://user:password@host:port/database or mariadb://…'
  }],
  options: [
    { flags: '-o, --output <file>', description: 'the file to write; standard output if absent' },
    { flags: '-f, --force', description: 'replace the file if there is one' },
    { flags: '-t, --table <names...>', description: 'only these tables' }
  ],
  run: async ([url = ''], { output, force = false, table: tables }, { out, err }) => {
    if (output !== undefined && !force && existsSync(output)) {
      throw new errors.InvalidOptions(`The file '${output}' exists already; add --force to replace it`)
    }
    const db = await openDatabase(url)
    try {
      const { source, models, notes } = await introspect(db, tables && { tables })
      for (const note of notes) err(describeNote(note))
      if (output === undefined) {
        out(source.trimEnd())
      } else {
        writeFileSync(output, source, { flag: force ? 'w' : 'wx' })
        err(`Wrote ${models.length} models to ${output}`)
      }
      return 'success'
    } finally {
      await db.destroy()
    }
  }
}
