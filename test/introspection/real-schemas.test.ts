// @long: makes, fills and serves up to eleven databases of other programs on each engine
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'
import { sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import { readHandle } from '../../lib/database/engine.js'
import type { ColumnRow } from '../../lib/engines/catalog.js'
import type { Tables } from '../../lib/engines/executor.js'
import restModels, { type Model } from '../../lib/index.js'
import { ResourceRegistry } from '../../lib/plugin/registry.js'
import { introspect, type Introspection } from '../../lib/tooling/introspect/introspect.js'
import { describeNote } from '../../lib/tooling/introspect/describe-notes.js'
import { compile } from '../support/compile.js'
import { bundleScript } from '../support/bundle-script.js'
import { engine, openSeparateDatabase } from '../support/database.js'
import { inventRows, rowCount } from './invented-rows.js'
import { readSchemas, type SchemaFile } from './schema-files.js'
import { shownBySql } from './shown-by-sql.js'

/** Tables and columns that must at least be served, of all that a schema has. */
const floors: Readonly<Record<typeof engine, Readonly<Record<string, readonly [number, number]>>>> = {
  sqlite: {
    'better-auth': [10, 82],
    chinook: [11, 64],
    django: [11, 58],
    northwind: [12, 81],
    prisma: [9, 49],
    rails: [7, 53],
    sakila: [16, 86]
  },
  postgres: {
    'better-auth': [10, 82],
    chinook: [11, 64],
    django: [11, 57],
    northwind: [14, 90],
    pagila: [14, 78],
    prisma: [9, 49],
    rails: [7, 52],
    sequelize: [4, 26],
    supabase: [8, 53],
    typeorm: [4, 22]
  },
  mariadb: {
    'better-auth': [10, 82],
    chinook: [11, 64],
    django: [11, 58],
    employees: [6, 24],
    laravel: [10, 64],
    prisma: [9, 49],
    rails: [7, 53],
    sakila: [16, 88],
    sequelize: [4, 26],
    typeorm: [4, 22]
  }
}
/** Of all schemas of an engine, in percent. */
const sharedFloor = { tables: 96, columns: 95 }

interface Loaded {
  readonly name: string
  readonly db: Kysely<Tables>
  readonly found: Introspection
  /** Of the tables alone, without those of views and partitions. */
  readonly columns: readonly ColumnRow[]
}

test(`schemas of other programs on ${engine}`, { timeout: 300_000 }, async (t) => {
  const loaded: Loaded[] = []
  for (const schema of readSchemas(engine)) loaded.push(await load(t, schema))
  checkShares(t, loaded)
  for (const { name, found, columns } of loaded) checkNotes(t, name, found, columns)
  const written = writeSources(t, loaded)
  t.strictSame(compile([...written.values()]), [], 'the written models compile')
  for (const { name, db } of loaded) {
    await t.test(`${name}: the written models start, and each row is served as SQL shows it`, async (t) => {
      const { href } = pathToFileURL(bundleScript(String(written.get(name))))
      const { models } = await import(href) as { models: readonly Model[] }
      const app = await serve(t, db, models)
      for (const model of models) await checkRows(t, { app, db, model })
    })
  }
})

/** Loads a schema into a database of its own, with rows, and reads its models. */
async function load (t: Test, { name, statements }: SchemaFile): Promise<Loaded> {
  const db = await openSeparateDatabase(t)
  await db.connection().execute(async (connection) => {
    for (const statement of statements) await sql.raw(statement).execute(connection)
  })
  await inventRows(db, name)
  const { catalog } = readHandle(db).dialect
  const { rows: tables } = await catalog.tables.execute(db)
  const { rows: columns } = await catalog.columns.execute(db)
  const base = new Set(tables.filter(({ kind }) => kind === 'table').map((table) => table.name))
  return { name, db, found: await introspect(db), columns: columns.filter(({ table }) => base.has(table)) }
}

function checkShares (t: Test, loaded: readonly Loaded[]): void {
  const all = { tables: 0, servedTables: 0, columns: 0, servedColumns: 0 }
  t.strictSame(loaded.map(({ name }) => name), Object.keys(floors[engine]), 'each schema has its floors')
  for (const { name, found: { models }, columns } of loaded) {
    const tables = new Set(columns.map(({ table }) => table))
    const served = models.filter(({ table }) => tables.has(table))
    const servedColumns = columns.filter((column) => fieldOf(served, column) !== undefined)
    t.comment(`${engine} ${name}: ${served.length} of ${tables.size} tables, ` +
      `${servedColumns.length} of ${columns.length} columns`)
    const { [name]: [minTables, minColumns] = [] } = floors[engine]
    t.ok(served.length >= Number(minTables), `${name}: ${served.length} of ${minTables} tables`)
    t.ok(servedColumns.length >= Number(minColumns), `${name}: ${servedColumns.length} of ${minColumns} columns`)
    all.tables += tables.size
    all.servedTables += served.length
    all.columns += columns.length
    all.servedColumns += servedColumns.length
  }
  const shares = {
    tables: all.servedTables * 100 / all.tables, columns: all.servedColumns * 100 / all.columns
  }
  t.comment(`${engine}: ${shares.tables.toFixed(1)} % of the tables, ${shares.columns.toFixed(1)} % of the columns`)
  t.ok(shares.tables >= sharedFloor.tables && shares.columns >= sharedFloor.columns, 'the shares in all')
}

function fieldOf (models: readonly Model[], { table, name }: ColumnRow) {
  return models.find((model) => model.table === table)?.columns.find((column) => column.name === name)
}

/** Each table without a model, and each column without a field, has a note with the reason and the remedy. */
function checkNotes (t: Test, schema: string, { models, notes }: Introspection, columns: readonly ColumnRow[]): void {
  for (const note of notes) t.comment(`${engine} ${schema}: ${describeNote(note)}`)
  for (const table of new Set(columns.map(({ table }) => table))) {
    if (models.some((model) => model.table === table)) continue
    const reasons = notes.filter((note) => note.table === table && note.column === undefined)
    t.equal(reasons.length, 1, `${schema}: ${table}`)
    for (const { why } of reasons) t.match(why, /^\w.*; \w/, `${schema}: ${table}, with a remedy`)
  }
  for (const column of columns) {
    const { table, name } = column
    if (!models.some((model) => model.table === table) || fieldOf(models, column) !== undefined) continue
    const [{ why } = { why: '' }] = notes.filter((note) => note.table === table && note.column === name)
    t.match(why, /^left out: it .*(; \w|computed by the database$)/, `${schema}: ${table}.${name}, with a remedy`)
  }
}

/** Writes the files of models, and returns their paths by the name of the schema. */
function writeSources (t: Test, loaded: readonly Loaded[]): ReadonlyMap<string, string> {
  const folder = t.testdir()
  return new Map(loaded.map(({ name, found }) => {
    const path = join(folder, `${name}.ts`)
    writeFileSync(path, found.source)
    return [name, path]
  }))
}

async function serve (t: Test, db: Kysely<Tables>, models: readonly Model[]): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  for (const model of models) app.restModels.register(model)
  await app.restModels.setup()
  await app.ready()
  return app
}

interface Served {
  readonly app: FastifyInstance
  readonly db: Kysely<Tables>
  readonly model: Model
}

type Records = ReadonlyArray<Readonly<Record<string, unknown>>>

/** Compares a list, and each of its records, with what SQL says of the rows. */
async function checkRows (t: Test, { app, db, model }: Served): Promise<void> {
  const path = `/api/${ResourceRegistry.resourcesOf(app).find((resource) => resource.model === model)?.name}/`
  const { objects } = (await app.inject(path)).json<{ objects: Records }>()
  const rows = await shownBySql(db, model)
  t.strictSame(byId(objects), byId(rows), `${path} lists what is there`)
  t.equal(rows.length, rowCount, `${path} has rows`)
  for (const record of objects) {
    const url = `${path}${encodeURIComponent(String(record['id']))}/`
    t.strictSame((await app.inject(url)).json(), record, url)
  }
}

function byId (records: Records): Records {
  return [...records].sort((one, other) => String(one['id']) < String(other['id']) ? -1 : 1)
}
