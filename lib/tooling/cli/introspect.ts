import { introspect } from '../introspect/introspect.js'
import { describeNotes } from '../introspect/describe-notes.js'
import type { CommandRow } from './command-row.js'
import { openDatabase } from './open-database.js'
import { requireOutput, writeOutput, type OutputNames } from './output-file.js'

interface Options {
  readonly output?: string
  readonly force?: true
  readonly table?: readonly string[]
  readonly schema?: string
}

/** The models need `import` and `export`, which `.cjs` does not take. A declaration file holds types only. */
const modelsFile: OutputNames = {
  pattern: /(?<!\.d)\.(?:[cm]?ts|m?js)$/,
  fault: "--output is the name of a file that ends in '.ts', '.mts', '.cts', '.js' or '.mjs', and not in '.d.ts', " +
    "'.d.mts' or '.d.cts'"
}

export const introspectCommand: CommandRow<Options> = {
  summary: 'write a file with models for the tables of a database, without changing the database',
  arguments: [{
    name: 'database-url',
    description: 'sqlite:./site.db, postgres://user:password@host:port/database or mariadb://…'
  }],
  options: [
    {
      flags: '-o, --output <file>',
      description: 'the file to write (.ts, .mts, .cts, .js, .mjs); standard output if absent'
    },
    { flags: '-f, --force', description: 'replace the file if there is one' },
    { flags: '-t, --table <names...>', description: 'only these tables; give the URL before them' },
    { flags: '-s, --schema <name>', description: 'the schema of PostgreSQL to read, if not that of the search path' }
  ],
  run: async ([url = ''], { output, force = false, table: tables, schema }, { out, err }) => {
    requireOutput(output, force, modelsFile)
    const db = await openDatabase(url, schema === undefined ? {} : { schema })
    try {
      const language = /\.m?js$/.test(output ?? '') ? 'javascript' : 'typescript'
      const { source, models, notes } = await introspect(db, { language, ...tables && { tables } })
      for (const line of describeNotes(notes)) err(line)
      if (models.length === 0) {
        err('There is no table that can have a model, so nothing is written')
        return 'failure'
      }
      if (output === undefined) {
        out(source.trimEnd())
      } else {
        writeOutput(output, source, force)
        err(`Wrote ${models.length} ${models.length === 1 ? 'model' : 'models'} to ${output}`)
      }
      return 'success'
    } finally {
      await db.destroy()
    }
  }
}
