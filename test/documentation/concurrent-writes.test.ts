import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test, type Test } from 'tap'
import { emptyDatabase, engine } from '../support/database.js'
import { startServer } from '../support/process.js'
import { basic } from '../support/site.js'
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

test("the numbers of 'Numbers without gaps' have none under concurrent requests", async (t) => {
  const send = await start(t, 'docs/policies.md', 'Routes of your own')
  const ids = Array.from({ length: 20 }, (_, index) => index + 1)
  for (const id of ids) await send('POST', '/api/invoice/', { title: `No. ${id}` })
  const sent = await Promise.all([...ids, ...ids].map(async (id) => await send('POST', `/api/invoice/${id}/send`)))
  t.strictSame(sent.filter((answer) => !isDone(answer)).map(({ status }) => status), ids.map(() => 409))
  const numbers = sent.filter(isDone).map(({ body }) => (body as { readonly number: number }).number)
  t.strictSame(numbers.sort((one, other) => one - other), ids)
})
