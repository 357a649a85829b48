// @once: about schemas, and views without columns, which PostgreSQL alone has

import tap, { test, type Test } from 'tap'
import { defineModel, text } from '../../lib/index.js'
import { openPostgres } from '../../lib/postgres.js'
import { openSqlite } from '../../lib/sqlite.js'
import { runCommand } from '../../lib/tooling/cli/run.js'
import { requireSchema } from '../../lib/tooling/introspect/require-schema.js'
import { serveDatabase, writeMigration } from '../../lib/tools.js'
import { findEngine } from '../support/engines/find-engine.js'
import { runSql } from '../support/engines/sql.js'
import { createDatabase } from '../support/engines/test-database.js'

const server = await findEngine('postgres')
tap.teardown(async () => { if (server.url !== undefined) await server.stop() })
const needed = { skip: server.url === undefined && server.why }

/** Makes a database of PostgreSQL, and returns its URL. */
async function databaseOf (t: Test, ...statements: readonly string[]): Promise<string> {
  const { url, drop } = await createDatabase(String(server.url))
  t.teardown(drop)
  for (const statement of statements) await runSql(url, statement)
  return url
}

const twoSchemas = [
  'create schema shop', 'create table public.page (id serial primary key, title text)',
  'create table shop.item (id serial primary key, name text, page_id integer references public.page)',
  "insert into shop.item (name) values ('Tea')"
]

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command; one that serves answers the GET of a path first, and `out` has the answer. */
async function run (words: readonly string[], path = '/'): Promise<Ran> {
  const written = { out: '', err: '' }
  const code = await runCommand(words, {
    out: (text) => { written.out += `${text}\n` },
    err: (text) => { written.err += `${text}\n` },
    interrupted: async () => {
      const [, address] = /(http:\/\/127\.0\.0\.1:\d+)\/api/.exec(written.out) ?? []
      written.out += await (await fetch(`${address}${path}`)).text()
    }
  })
  return { code, ...written }
}

test('D-208: introspect and serve read another schema, and name those that they do not read', needed, async (t) => {
  const url = await databaseOf(t, ...twoSchemas)
  const read = await run(['introspect', url, '--schema', 'shop'])
  t.match(read, { code: 0, out: "export const Item = defineModel('Item', {\n  name: text({ nullable: true }),\n" })
  t.match(read.err, "Column 'page_id' of table 'item' refers to a table of another schema, which has no model here; " +
    'the field is a plain value, not a foreign key\n')
  t.match(read.err, "Table 'public.page' is left out: it is in another schema; read it with --schema public\n")
  t.match(await run(['serve', url, '--port', '0'], '/api/page/'), {
    code: 0,
    err: "Table 'shop.item' is left out: it is in another schema; read it with --schema shop\n",
    out: /"objects":\[\]/
  })
  const served = await run(['serve', url, '--port', '0', '--schema', 'shop'], '/api/item/')
  t.match(served, { code: 0, out: '"objects":[{"id":1,"name":"Tea","page_id":null}]' })
  t.match(served.err, "Table 'public.page' is left out: it is in another schema; read it with --schema public")
  const { app, models } = await serveDatabase(url, { schema: 'shop' })
  await app.close()
  t.strictSame(models.map(({ name }) => name), ['Item'])
})

test('D-208: a schema that the option does not take is not recommended to it', needed, async (t) => {
  const url = await databaseOf(t, 'create schema "my-app"', 'create table "my-app".item (id serial primary key)',
    'create table public.page (id serial primary key)')
  const { err } = await run(['introspect', url])
  t.match(err, "Table 'my-app.item' is left out: it is in another schema, whose name --schema does not take; rename " +
    'the schema\n')
  t.match(await run(['introspect', url, '--schema', 'my-app']), { code: 2, err: 'letters, digits and underscores' })
})

test('D-208: a schema that does not exist is an error that names those that do', needed, async (t) => {
  const url = await databaseOf(t, 'create schema shop', 'create schema press')
  const wrong = async (name: string): Promise<readonly [Ran, Ran]> => [
    await run(['introspect', url, '--schema', name]), await run(['serve', url, '--port', '0', '--schema', name])
  ]
  const message = (name: string): string => `The database has no schema '${name}' that its user may read`
  for (const { code, err } of await wrong('nonesuch')) {
    t.equal(code, 2)
    t.match(err, `${message('nonesuch')}; it has 'press', 'public', 'shop'\n`)
  }
  for (const { code, err } of await wrong('shp')) {
    t.equal(code, 2)
    t.match(err, `${message('shp')}, did you mean 'shop'?\n`)
  }
  for (let number = 1; number < 10; number++) await runSql(url, `create schema s${number}`)
  t.match(await run(['introspect', url, '--schema', 'nonesuch']), { err: /'s7', 's8' and others\n/ })
  const empty = await databaseOf(t, 'drop schema public')
  t.match(await run(['introspect', empty, '--schema', 'nonesuch']), { err: `${message('nonesuch')}; it has none\n` })
  const db = openSqlite(':memory:')
  t.teardown(async () => { await db.destroy() })
  await t.resolves(requireSchema(db, 'any'), 'SQLite has no schemas')
})

test('a view without columns lacks those of its model, and nothing can be added to it', needed, async (t) => {
  const db = openPostgres(await databaseOf(t, 'create view bare as select'))
  t.teardown(async () => { await db.destroy() })
  const { source, differences } = await writeMigration(db, [defineModel('Bare', { name: text() })])
  t.equal(source, undefined)
  t.match(differences, [
    /^field 'id' of model 'Bare' needs column 'id' of view 'bare', which does not exist/,
    /^field 'name' of model 'Bare' needs column 'name' of view 'bare', which does not exist/
  ])
})
