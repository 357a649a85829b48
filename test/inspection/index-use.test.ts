// @servers: each engine decides for itself which index serves

import Fastify from 'fastify'
import { CompiledQuery, sql, type Kysely } from 'kysely'
import { test, type Test } from 'tap'
import { readHandle } from '../../lib/database/engine.js'
import type { Tables } from '../../lib/engines/executor.js'
import restModels, {
  createTables, datetime, defineModel, foreignKey, integer, openAuth, text
} from '../../lib/index.js'
import { engine, openDatabase, recordStatements } from '../support/database.js'
import { client } from '../support/site.js'

const Place = defineModel('Place', { id: text({ maxLength: 40 }), size: integer() })
const Visit = defineModel('Visit', {
  place: foreignKey(() => Place), day: integer(), at: datetime(), note: text({ maxLength: 40 })
}, { key: ['place', 'day'] })

/** Rows in each table: enough for the engines to prefer an index to reading all of them. */
const count = 3000
const keyAt = (index: number): string => `k${String(index).padStart(4, '0')}`

/** Types of another program: another collation, and moments with a zone or with fractions of a second. */
const foreign = {
  sqlite: { text: 'varchar(40)', moment: 'datetime' },
  postgres: { text: 'varchar(40)', moment: 'timestamptz(6)' },
  mariadb: { text: 'varchar(40) character set utf8mb4 collate utf8mb4_general_ci', moment: 'datetime(6)' }
}[engine]

async function createForeignTables (db: Kysely<Tables>): Promise<void> {
  const [text, moment] = [sql.raw(foreign.text), sql.raw(foreign.moment)]
  await sql`create table place (id ${text} not null primary key, size integer not null)`.execute(db)
  await sql`create table visit (place_id ${text} not null references place (id), day integer not null,
    at ${moment} not null, note ${text} not null, primary key (place_id, day))`.execute(db)
}

async function build (t: Test, create: (db: Kysely<Tables>) => Promise<void>) {
  const db = await openDatabase(t)
  await create(db)
  await sql`create index visit_at on visit (at)`.execute(db)
  await sql`create index visit_note on visit (note)`.execute(db)
  const numbers = Array.from({ length: count }, (_, index) => index)
  for (let start = 0; start < count; start += 500) {
    const part = numbers.slice(start, start + 500)
    await db.insertInto('place').values(part.map((index) => ({ id: keyAt(index), size: index }))).execute()
    await db.insertInto('visit').values(part.map((index) => ({
      place_id: keyAt(index),
      day: index,
      at: new Date(Date.UTC(2024, 0, 1) + index * 3_600_000).toISOString().slice(0, 19).replace('T', ' '),
      note: keyAt(index)
    }))).execute()
  }
  for (const table of ['place', 'visit']) {
    await sql`${sql.raw(engine === 'mariadb' ? 'analyze table' : 'analyze')} ${sql.table(table)}`.execute(db)
  }
  const statements = await recordStatements(t, db)
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  for (const model of [Place, Visit]) app.restModels.register(model, { auth: openAuth() })
  await app.restModels.setup()
  await app.ready()
  const { dialect: { plans } } = readHandle(db)
  /** Plans of the statements of a request. */
  const plansOf = async (url: string, body?: object) => {
    statements.length = 0
    const reply = body === undefined ? await client(app).get(url) : await client(app).put(url, body)
    t.equal(reply.statusCode, 200, `${url}: ${reply.body}`)
    const asked = statements.filter(({ sql }) => /^\s*(?:\(?select|update)/i.test(sql)).map(({ sql, parameters }) =>
      CompiledQuery.raw(`${plans.explain}${sql}`, [...parameters]))
    const all = []
    for (const query of asked) all.push((await db.executeQuery<PlanRow>(query)).rows)
    return all
  }
  return { plansOf, sorts: (rows: readonly PlanRow[]) => plans.sorts(rows) }
}

type PlanRow = Readonly<Record<string, unknown>>

/** Names of the indexes by which a plan finds rows. It reads a whole table by none. */
function indexesOf (rows: readonly PlanRow[]): readonly string[] {
  if (engine === 'sqlite') {
    return rows.flatMap(({ detail }) => /^SEARCH \S+ USING (?:COVERING )?INDEX (\S+)/.exec(String(detail))?.[1] ?? [])
  }
  if (engine === 'mariadb') {
    return rows.filter(({ type }) => ['const', 'eq_ref', 'ref', 'range'].includes(String(type)))
      .map(({ key }) => String(key))
  }
  const plan = JSON.stringify(rows)
  const names = [...plan.matchAll(/Index Name\\?":\s*\\?"([^"\\]+)/g)].map(([, name]) => String(name))
  // createTables() gives a key of several columns a name of its own.
  return plan.includes('Index Cond') ? names.map((name) => name === 'visit__key' ? 'visit_pkey' : name) : []
}

const keyIndexes = {
  sqlite: { place: 'sqlite_autoindex_place_1', visit: 'sqlite_autoindex_visit_1' },
  postgres: { place: 'place_pkey', visit: 'visit_pkey' },
  mariadb: { place: 'PRIMARY', visit: 'PRIMARY' }
}[engine]

const day = encodeURIComponent('2024-02-01 05:00:00')
/** Lists by the index that must find their rows. */
const lists: ReadonlyArray<readonly [query: string, index: string]> = [
  ['place/?id=k0042', keyIndexes.place],
  ['place/?id__in=k0001,k0042,k0043', keyIndexes.place],
  [`visit/?id=${encodeURIComponent('k0042,42')}`, keyIndexes.visit],
  [`visit/?id__in=${encodeURIComponent('"k0042,42","k0043,43"')}`, keyIndexes.visit],
  ['visit/?place=k0042', keyIndexes.visit],
  ['visit/?note=k0042', 'visit_note'],
  [`visit/?at=${day}`, 'visit_at'],
  [`visit/?at__gt=${day}&at__lte=${encodeURIComponent('2024-02-01 09:00:00')}`, 'visit_at'],
  [`visit/?at__gte=${encodeURIComponent('2024-05-04')}&ordering=at`, 'visit_at']
]

for (const [name, create] of [
  ['that createTables made', async (db: Kysely<Tables>) => { await createTables(db, [Place, Visit]) }],
  ['of another program', createForeignTables]
] as const) {
  test(`filters on keys of text and on moments use their indexes, in tables ${name}`, async (t) => {
    const { plansOf, sorts } = await build(t, create)
    for (const [query, index] of lists) {
      const [rows = []] = await plansOf(`/api/${query}`)
      t.ok(indexesOf(rows).includes(index), `${query}: ${JSON.stringify(rows)}`)
    }
    for (const [url, index] of [
      ['/api/place/k0042/', keyIndexes.place], ['/api/visit/k0042,42/', keyIndexes.visit]
    ] as const) {
      for (const body of [undefined, url.includes('place') ? { size: -1 } : { note: 'new' }]) {
        const all = await plansOf(url, body)
        for (const rows of all) t.ok(indexesOf(rows).includes(index), `${url}: ${JSON.stringify(rows)}`)
        t.ok(all.length > 0, url)
      }
    }
    if (name === 'of another program' && engine !== 'sqlite') return
    for (const query of [
      'place/?ordering=id&limit=5', 'place/?ordering=-id&limit=5', 'visit/?ordering=id&limit=5',
      // MariaDB has a longtext here, and only its first characters in the index.
      ...engine === 'mariadb' ? [] : ['visit/?ordering=note&limit=5'],
      'place/?ordering=id&limit=5&after=', 'place/?id__gte=k2990&ordering=id&limit=5'
    ]) {
      const [rows = []] = await plansOf(`/api/${query}`)
      t.notOk(sorts(rows), `${query} reads its rows in order: ${JSON.stringify(rows)}`)
    }
  })
}
