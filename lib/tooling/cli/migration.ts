import { openSqlite } from '../../sqlite.js'
import { writeMigration } from '../migration/write-migration.js'
import type { CommandRow } from './command-row.js'
import { loadModels } from './load-models.js'
import { openDatabase } from './open-database.js'
import { requireOutput, writeOutput, type OutputNames } from './output-file.js'

interface Options {
  readonly output?: string
  readonly force?: true
}

/**
 * Time-out of a statement on PostgreSQL and MariaDB, in milliseconds: one hour. The command may have to read large
 * tables, because it looks for equal values in columns that are to become unique.
 */
const statementTimeout = 3_600_000

/** Names that Kysely's FileMigrationProvider finds. */
const migrationFile: OutputNames = {
  pattern: /(?<!\.d)\.m?[jt]s$/,
  fault: "Kysely finds only migrations whose name ends in '.js', '.mjs', '.ts' or '.mts', and none that ends in " +
    "'.d.ts' or '.d.mts'"
}

export const migrationCommand: CommandRow<Options> = {
  summary: 'write a Kysely migration with what a database lacks of models, without changing the database',
  arguments: [{ name: 'models', description: 'a JavaScript file that exports models, one by one or in a list' }, {
    name: 'database-url',
    description: 'sqlite:./site.db, postgres://user:password@host:port/database or mariadb://…; ' +
      'sqlite::memory: stands for an empty database'
  }],
  options: [
    { flags: '-o, --output <file>', description: 'the file to write (.js, .mjs, .ts); standard output if absent' },
    { flags: '-f, --force', description: 'replace the file if there is one' }
  ],
  run: async ([path = '', url = ''], { output, force = false }, { out, err }) => {
    requireOutput(output, force, migrationFile)
    const models = await loadModels(path)
    const db = url === 'sqlite::memory:' ? openSqlite(':memory:') : await openDatabase(url, { statementTimeout })
    try {
      const { source, differences } = await writeMigration(db, models, {
        language: output?.endsWith('ts') === true ? 'ts' : 'js'
      })
      for (const difference of differences) err(`Left as it is: ${difference}`)
      if (source === undefined) {
        err('The database lacks nothing, so no migration is written')
        return differences.length === 0 ? 'success' : 'failure'
      }
      if (output === undefined) {
        out(source.trimEnd())
      } else {
        writeOutput(output, source, force)
        err(`Wrote ${output}`)
      }
      return 'success'
    } finally {
      await db.destroy()
    }
  }
}
