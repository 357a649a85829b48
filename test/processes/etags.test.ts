// @alone: starts processes
// @long: two processes count for long

import { join } from 'node:path'
import { test, type Test } from 'tap'
import { createTables } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { emptyDatabase, engine, openUrl } from '../support/database.js'
import { share } from '../support/share.js'
import { insert, siteModels } from '../support/site.js'
import { startWorker } from '../support/workers.js'

const created = '2024-01-01 00:00:00'

/** Two processes that serve one note, and their addresses. */
async function startProcesses (t: Test): Promise<readonly string[]> {
  const { url, remove } = engine === 'sqlite'
    ? { url: join(t.testdir(), 'site.db'), remove: async () => {} }
    : await emptyDatabase()
  const db = engine === 'sqlite' ? openSqlite(url) : openUrl(url)
  await createTables(db, siteModels)
  await insert(db, { note: [{ id: 1, message: '0', created }] })
  await db.destroy()
  t.teardown(remove)
  const workers = [1, 2].map(() => startWorker<string>(t, 'processes/serve.ts', engine, url))
  return await Promise.all(workers.map(async ({ next }) => `${await next()}/api/counter/1/`))
}

const read = async (url: string) => {
  const reply = await fetch(url)
  return { tag: reply.headers.get('etag') ?? '', note: await reply.json() as { readonly message: string } }
}
const write = async (url: string, message: string, tag: string): Promise<number> => {
  const reply = await fetch(url, { method: 'PUT', headers: { 'if-match': tag }, body: JSON.stringify({ message }) })
  await reply.text()
  return reply.status
}

test('D-185: of writers in two processes with one tag one writes, and none is lost in counting', async (t) => {
  const urls = await startProcesses(t)
  const [one = '', other = ''] = urls
  const { tag } = await read(one)
  t.equal((await read(other)).tag, tag, 'both processes give the same tag')
  const statuses = await Promise.all(Array.from({ length: 20 }, async (_item, index) =>
    await write(urls[index % 2] ?? '', '0 ', tag)))
  t.strictSame(statuses.toSorted(), [200, ...Array<number>(19).fill(412)])

  const wanted = share === 1 ? 250 : 100
  let left = wanted
  let refused = 0
  const count = async (url: string): Promise<void> => {
    while (left-- > 0) {
      for (let status = 412; status !== 200;) {
        const { tag, note } = await read(url)
        status = await write(url, String(Number(note.message) + 1), tag)
        if (status === 412) refused += 1
        else if (status !== 200) throw new Error(`a status ${status}`)
      }
    }
  }
  await Promise.all([one, other, one, other].map(count))
  t.strictSame((await read(one)).note, { id: 1, message: String(wanted), created })
  t.comment(`${wanted} updates, ${refused} refused`)
})
