import { openEngine, type AnyKysely, type Engine } from '../../database/engine.js'
import type { Model } from '../../model/define-model.js'
import { requireKnown } from '../../suggest.js'
import { planMigration, type MigrationPlan } from '../../tables/plan-migration.js'
import { writeDown, writeUp } from '../../tables/write-steps.js'
import { inOneLine } from '../introspect/source-text.js'
import { SchemaRecorder } from './schema-recorder.js'

export interface MigrationOptions {
  /** Language of the module. Default `js`. */
  readonly language?: 'js' | 'ts'
}

/** The result of {@link writeMigration}: a migration that adds what a database lacks of its models. */
export interface WrittenMigration {
  /** Text of a module for Kysely's Migrator, with `up` and `down`; undefined if there is nothing to add. */
  readonly source: string | undefined
  /** Differences between models and tables that the migration leaves as they are, with the remedies. */
  readonly differences: readonly string[]
}

/**
 * Compares models, and the models that their foreign keys refer to, with a database. Returns the source of a Kysely
 * migration that adds the tables, columns, indexes and unique constraints that the database lacks. Changes nothing in
 * the database.
 *
 * @throws REST_MODELS_TABLE_MISMATCH with the remedy if existing rows or tables keep something from being added;
 *   REST_MODELS_INVALID_MODEL if a default does not fit its field; REST_MODELS_INVALID_OPTIONS if an option is unknown;
 *   REST_MODELS_UNSUPPORTED_DATABASE
 */
export async function writeMigration (
  db: AnyKysely, models: readonly Model[], options: MigrationOptions = {}
): Promise<WrittenMigration> {
  requireKnown<MigrationOptions>('writeMigration()', options, { language: true })
  const { language = 'js' } = options
  const engine = await openEngine(db)
  const plan = await planMigration(engine, models)
  const isWhole = plan.tables.tables.length === 0 && plan.changes.length === 0
  const source = isWhole ? undefined : await writeModule(engine, plan, language)
  return { source, differences: plan.differences.map(inOneLine) }
}

async function writeModule (
  { db, dialect: plain }: Engine, plan: MigrationPlan, language: 'js' | 'ts'
): Promise<string> {
  const dialect = { ...plain, storages: plan.storages }
  const isTyped = language === 'ts'
  const [up, down] = [new SchemaRecorder(db, isTyped), new SchemaRecorder(db, isTyped)]
  await writeUp(up, plan, dialect)
  down.comment('This deletes what the new tables and columns hold.')
  await writeDown(down, plan, dialect)
  const parts = [
    writeFunction('up', up, isTyped),
    writeFunction('down', down, isTyped),
    ...up.checksRows ? [requireEmptyFunction(isTyped)] : []
  ]
  const code = parts.join('\n\n')
  const imports = [...code.includes('sql') ? ['sql'] : [], ...isTyped ? ['type Kysely'] : []]
  const importLine = imports.length === 0 ? [] : [`import { ${imports.join(', ')} } from 'kysely'`]
  const origin = `// Written by fastify-rest-models for ${engineTitles[dialect.name]}. Read it before you run it.`
  return `${[origin, ...comments(plan), ...importLine].join('\n')}\n\n${code}\n`
}

const engineTitles = { sqlite: 'SQLite', postgres: 'PostgreSQL', mariadb: 'MariaDB' } as const

function comments ({ differences }: MigrationPlan): readonly string[] {
  if (differences.length === 0) return []
  return ['//', '// It leaves these differences between the models and the tables:',
    ...differences.map((text) => `// - ${inOneLine(text)}`)]
}

function writeFunction (name: string, { statements }: SchemaRecorder, isTyped: boolean): string {
  const parameter = isTyped ? 'db: Kysely<any>' : 'db'
  const lines = statements.flatMap((statement) => statement.split('\n')).map((line) => `  ${line}`)
  return `export async function ${name} (${parameter})${isTyped ? ': Promise<void>' : ''} {
  const { schema } = db.withoutPlugins()

${lines.join('\n')}
}`
}

function requireEmptyFunction (isTyped: boolean): string {
  const parameters = isTyped ? 'db: Kysely<any>, table: string, column: string' : 'db, table, column'
  return `async function requireEmpty (${parameters})${isTyped ? ': Promise<void>' : ''} {
  const { rows } = await sql\`select 1 from \${sql.table(table)} limit 1\`.execute(db)
  if (rows.length === 0) return
  throw new Error(\`Table '\${table}' has rows, which would have no value in the new column '\${column}'\`)
}`
}
