import Fastify, { type FastifyInstance } from 'fastify'
import restModels, { boolean, defineModel, foreignKey, integer, text } from 'fastify-rest-models'
import { sql } from 'kysely'
import { Databases } from './engines/databases.js'
import { openEngine } from './engines/open-engine.js'
import { busyWarning, describeMachine } from './report/machine.js'
import type { Database } from './site/fill.js'
import { spreadOf } from './statistics.js'

/** counts.ts [rows…]: measures a page with `count=true`, by filter, for each number of rows. Build the package first. */

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100_000, 1_000_000, 10_000_000]
/** Requests for each filter; fewer if they would take longer than this many milliseconds. */
const most = { requests: 40, milliseconds: 20_000 }
/** Rows that one statement inserts: MariaDB ends a recursion after 1,000 rows. */
const batch = { outer: 100, inner: 1000 }

const Owner = defineModel('Owner', { name: text() })
const Entry = defineModel('Entry', {
  owner: foreignKey(() => Owner), rare: integer(), thousandth: integer(), done: boolean(), title: text()
})

const titleOf = (row: number): string => `entry no ${10_000_000_000 + row}`
const filters: Readonly<Record<string, string>> = {
  none: '',
  'a boolean, without an index': '&done=true',
  'a search for a word of all rows': '&search=entry',
  'an integer, with an index': '&rare=5',
  'an integer, without an index': '&thousandth=5',
  'ten texts, without an index': `&title__in=${Array.from({ length: 10 }, (_, row) => titleOf(row * 7 + 1)).join()}`,
  'a search for one row': '&search=10000054321'
}
const analyze = { sqlite: 'analyze', postgres: 'vacuum analyze', mariadb: 'analyze table entry' }

const databases = new Databases(openEngine(process.env['DATABASE_URL']))
const { engine } = databases
process.once('SIGINT', async () => {
  await databases.dropAll().catch(console.error)
  process.exit(130)
})
const warning = busyWarning()
for (const note of [...describeMachine(), ...await engine.describe(), ...warning === undefined ? [] : [warning]]) console.log(note)
for (const rows of sizes) {
  const url = await databases.empty([Owner, Entry])
  const db = engine.open(url)
  const app = Fastify()
  try {
    await fill(db, rows)
    await app.register(restModels, { db })
    app.restModels.register(Entry, { search: ['title'] })
    await app.restModels.setup()
    for (const [name, filter] of Object.entries(filters)) console.log(`${rows.toLocaleString('en')} rows, ${name}: ${await measure(app, filter)}`)
  } finally {
    await app.close()
    await db.destroy()
    await databases.drop(url)
  }
}

async function fill (db: Database, rows: number): Promise<void> {
  await db.schema.createIndex('entry__rare__index').on('entry').column('rare').execute()
  await db.insertInto('owner').values(Array.from({ length: 1000 }, (_, owner) => ({ id: owner + 1, name: `owner ${owner}` }))).execute()
  const numbers = sql`with recursive n (i) as (select 0 union all select i + 1 from n where i < ${sql.lit(batch.inner - 1)})`
  for (let first = 1; first <= rows; first += batch.outer * batch.inner) {
    const row = sql`(${sql.lit(first)} + a.i * ${sql.lit(batch.inner)} + b.i)`
    await sql`insert into entry (owner_id, rare, thousandth, done, title) ${numbers}
      select 1 + ${row} % 1000, ${row} % ${sql.lit(rows / 10)}, ${row} % 1000, ${row} % 2 = 0, concat('entry no ', 10000000000 + ${row})
      from n as a cross join n as b where a.i < ${sql.lit(batch.outer)} and ${row} <= ${sql.lit(rows)}`.execute(db)
  }
  await sql.raw(analyze[engine.name]).execute(db)
}

/** Returns what a page with a filter finds, and how long it takes, in words. */
async function measure (app: FastifyInstance, filter: string): Promise<string> {
  const times: number[] = []
  let found = ''
  for (const end = performance.now() + most.milliseconds; times.length < most.requests && performance.now() < end;) {
    const start = performance.now()
    const { statusCode, body } = await app.inject(`/api/entry/?count=true${filter}`)
    times.push(performance.now() - start)
    if (statusCode !== 200) return `${statusCode} ${body}`
    const { meta } = JSON.parse(body) as { meta: { count: number, capped: boolean } }
    found = `${meta.capped ? 'more than ' : ''}${meta.count.toLocaleString('en')}`
  }
  const { lowest, median } = spreadOf(times)
  return `finds ${found}; least ${lowest.toFixed(1)} ms, median ${median.toFixed(1)} ms of ${times.length} requests`
}
