// @once: about SQLite, which keeps decimals as floating-point numbers

import fc from 'fast-check'
import Fastify from 'fastify'
import { CompiledQuery, sql } from 'kysely'
import { test, type Test } from 'tap'
import restModels, { createTables, decimal, defineModel, openAuth } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { seed } from '../properties/holds.js'
import { recordStatements } from '../support/database.js'

const scales = [0, 1, 2, 3, 4, 8]

async function linesApp (t: Test, scale: number, stored: readonly number[]) {
  const Line = defineModel('Line', { price: decimal({ scale, nullable: true }) })
  const db = openSqlite<Tables>(':memory:')
  await createTables(db, [Line])
  await sql`create index line_price on line (price)`.execute(db)
  for (const price of stored) await db.insertInto('line').values({ price }).execute()
  const app = Fastify()
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  const asked = await recordStatements(t, db)
  await app.register(restModels, { db })
  app.restModels.register(Line, { auth: openAuth() })
  await app.restModels.setup()
  const list = async (query: string): Promise<ReadonlyArray<{ readonly id: number, readonly price: string }>> =>
    (await app.inject(`/api/line/?limit=100&${query}`)).json().objects
  return { app, db, list, asked }
}

test('D-262: what other programs compute in SQLite is found as it is shown', async (t) => {
  const { db, list, asked } = await linesApp(t, 2, [1.1 * 3, 0.1 * 3, 4.35 * 3, 1.005, 0.125, -0.125, 3.3])
  const lines = await list('')
  t.equal(lines.length, 7)
  for (const { id, price } of lines) {
    t.ok((await list(`price=${price}`)).some((found) => found.id === id), price)
    t.ok((await list(`price__in=${price},77`)).some((found) => found.id === id), price)
    t.notOk((await list(`price__ne=${price}`)).some((found) => found.id === id), price)
    t.notOk((await list(`price__gt=${price}`)).some((found) => found.id === id), price)
    t.notOk((await list(`price__lt=${price}`)).some((found) => found.id === id), price)
    t.ok((await list(`price__gte=${price}&price__lte=${price}`)).some((found) => found.id === id), price)
  }
  for (const query of ['price=3.30', 'price__in=0.05,3.30', 'price__gt=3.30', 'price__lte=1.00&price__gte=0.10']) {
    asked.length = 0
    await list(`${query}&ordering=price`)
    const [statement] = asked
    if (statement === undefined) throw new Error('A list asks the database')
    const { rows } = await db.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${statement.sql}`, [...statement.parameters]))
    t.match(rows.map(({ detail }) => detail).join(), /SEARCH \w+ USING (COVERING )?INDEX line_price \(price/, query)
  }
})

test('D-262: cursors pass every number, also where several are shown alike', async (t) => {
  const { app } = await linesApp(t, 2, [3.3, 1.1 * 3, 3.3, 3.299999999999999, 3.31])
  for (const ordering of ['price', '-price']) {
    const seen: number[] = []
    for (let next = `/api/line/?ordering=${ordering}&limit=1&after=`; next !== '' && seen.length < 9;) {
      const { meta, objects } = (await app.inject(next)).json()
      seen.push(...objects.map(({ id }: { id: number }) => id))
      next = meta.next
    }
    t.same(seen.toSorted(), [1, 2, 3, 4, 5], ordering)
  }
})

test('D-262: numbers at random are compared as JavaScript compares what records show', async (t) => {
  for (const scale of scales) {
    const stored = fc.sample(fc.oneof(
      fc.double({ min: -1000, max: 1000, noNaN: true }),
      fc.integer({ min: -2_000_000, max: 2_000_000 }).map((number) => (2 * number + 1) / 2 / 10 ** scale),
      fc.integer({ min: 0, max: 100_000 }).map((number) => number * 0.437),
      fc.integer({ min: -2000, max: 2000 }).map((number) => number / 10 ** scale)
    ), { numRuns: 60, seed })
    const { list } = await linesApp(t, scale, stored)
    const all = await list('')
    t.equal(all.length, 60)
    for (const { price } of all.slice(0, 30)) {
      const given = Number(price)
      for (const [operator, isMet] of Object.entries({
        '': (shown: number) => shown === given,
        __ne: (shown: number) => shown !== given,
        __lt: (shown: number) => shown < given,
        __lte: (shown: number) => shown <= given,
        __gt: (shown: number) => shown > given,
        __gte: (shown: number) => shown >= given
      })) {
        const found = (await list(`price${operator}=${price}`)).map(({ id }) => id)
        t.same(found, all.filter((line) => isMet(Number(line.price))).map(({ id }) => id), `${operator} ${price}`)
      }
    }
  }
})
