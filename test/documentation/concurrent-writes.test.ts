import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test, type Test } from 'tap'
import { defineModel, foreignKey, integer, openAuth } from '../../lib/index.js'
import { emptyDatabase, engine } from '../support/database.js'
import { startServer } from '../support/process.js'
import { basic, buildApp } from '../support/site.js'
import { readPage } from './page.js'

const openers = { sqlite: 'openSqlite', postgres: 'openPostgres', mariadb: 'openMariadb' }

/** Starts the last program of a section on this process's engine, and returns a function that sends it requests. */
async function start (t: Test, file: string, section: string): Promise<Send> {
  const { url, remove } = await emptyDatabase()
  t.teardown(remove)
  const folder = mkdtempSync(join(resolve('dist'), 'page-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const program = readPage(file).blocks.filter((block) => block.section === section && block.language === 'js').at(-1)
  writeFileSync(join(folder, 'site.mjs'), String(program?.content).replaceAll('openSqlite', openers[engine])
    .replace('models/sqlite', `models/${engine}`)
    .replace("':memory:'", (memory) => engine === 'sqlite' ? memory : `'${url}'`))
  const { address, stop } = await startServer(t, 'site.mjs', { cwd: folder })
  t.teardown(stop)
  return async (method, path, body) => {
    const response = await fetch(address + path, {
      method, headers: { authorization: basic('alice', "alice's") }, ...body && { body: JSON.stringify(body) }
    })
    return { status: response.status, body: await response.json() }
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
}
type Send = (method: string, path: string, body?: object) => Promise<Answer>
type Row = Readonly<Record<string, string | number>>

/** Returns the ids from 1 to a number. */
const ids = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

const isDone = ({ status }: Answer): boolean => status < 300

test("the totals of 'A total of the parent' are right under concurrent writes", async (t) => {
  const send = await start(t, 'docs/hooks.md', 'A total of the parent')
  const list = async (model: string): Promise<readonly Row[]> => {
    const { body } = await send('GET', `/api/${model}/?ordering=id&limit=100`)
    return (body as { readonly objects: readonly Row[] }).objects
  }
  const requireRight = async (when: string): Promise<void> => {
    const lines = await list('line')
    const sums = [1, 2].map((bill) => lines.filter(({ bill_id: id }) => id === bill)
      .reduce((sum, { amount }) => sum + Number(amount), 0).toFixed(2))
    t.strictSame((await list('bill')).map(({ total }) => total), sums, when)
  }
  for (const title of ['March', 'April']) await send('POST', '/api/bill/', { title })

  const created = await Promise.all(Array.from({ length: 30 }, async (_, index) =>
    await send('POST', '/api/line/', { bill: 1 + index % 2, amount: '1.10' })))
  t.ok(created.filter(isDone).length > 15, 'few are refused because of deadlocks')
  await requireRight('after creates')

  const moved = await Promise.all((await list('line')).map(async ({ id, bill_id: bill }) =>
    await send('PUT', `/api/line/${id}/`, { bill: 3 - Number(bill), amount: '2.30' })))
  t.ok(moved.filter(isDone).length > 10, 'few are refused because of deadlocks')
  await requireRight('after lines have moved in both directions')
})

test("a value that is computed as 'A total of the parent' says is right under concurrent updates", async (t) => {
  const Bill = defineModel('Bill', { largest: integer({ default: 0 }) })
  const Line = defineModel('Line', { bill: foreignKey(() => Bill), amount: integer() })
  const { put, db: all } = await buildApp(t, {
    models: [Bill, Line],
    rows: { bill: [{ id: 1, largest: 0 }], line: ids(10).map((id) => ({ id, bill_id: 1, amount: 0 })) },
    register: (registry) => {
      registry.register(Line, {
        auth: openAuth(),
        afterWrite: async ({ record, db }) => {
          const bill = db.selectFrom('bill').select('id').where('id', '=', record.bill_id)
          const lock = { sqlite: bill, postgres: bill.forNoKeyUpdate(), mariadb: bill.forUpdate() }
          await lock[engine].execute()
          const largest = db.selectFrom('line').select(({ fn }) => fn.max('amount').as('amount'))
            .where('bill_id', '=', record.bill_id)
          const { amount } = await (engine === 'mariadb' ? largest.forUpdate() : largest).executeTakeFirstOrThrow()
          await db.updateTable('bill').set({ largest: amount }).where('id', '=', record.bill_id).execute()
        }
      })
    }
  })
  for (const round of ids(10)) {
    const replies = await Promise.all(
      ids(10).map(async (id) => await put(`/api/line/${id}/`, { amount: 100 * round + id })))
    const lines = await all.selectFrom('line').select('amount').execute()
    t.match(await all.selectFrom('bill').select('largest').execute(), [
      { largest: Math.max(...lines.map(({ amount }) => Number(amount))) }
    ])
    t.ok(replies.filter(({ statusCode }) => statusCode === 200).length > 5, 'few are refused because of deadlocks')
  }
})

test("the numbers of 'Numbers without gaps' have none under concurrent requests", async (t) => {
  const send = await start(t, 'docs/policies.md', 'Routes of your own')
  const all = ids(20)
  for (const id of all) await send('POST', '/api/invoice/', { title: `No. ${id}` })
  const sent = await Promise.all([...all, ...all].map(async (id) => await send('POST', `/api/invoice/${id}/send`)))
  t.strictSame(sent.filter((answer) => !isDone(answer)).map(({ status }) => status), all.map(() => 409))
  const numbers = sent.filter(isDone).map(({ body }) => (body as { readonly number: number }).number)
  t.strictSame(numbers.sort((one, other) => one - other), all)
})
