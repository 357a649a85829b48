// @long: makes tables from three processes, again and again

import { join } from 'node:path'
import { test } from 'tap'
import { createTables } from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { emptyDatabase, engine, openDatabase } from '../support/database.js'
import { definitions, type Definition } from '../support/definitions.js'
import { siteModels } from '../support/site.js'
import { startWorker } from '../support/workers.js'

test('processes that make the same tables at once, in any order, all succeed', { timeout: 60_000 }, async (t) => {
  const workers = ['forwards', 'backwards', 'forwards'].map((order) =>
    startWorker<string>(t, 'setup/table-maker.ts', order))
  for (const { next } of workers) t.equal(await next(), 'ready')
  const single = await openDatabase(t)
  await createTables(single, siteModels)
  const expected = inOrder(await definitions(single))
  const directory = t.testdir()
  for (let round = 0; round < 10; round++) {
    const { url, open, remove } = engine === 'sqlite'
      ? fileDatabase(join(directory, `${round}.db`))
      : await emptyDatabase()
    for (const { send } of workers) send(url)
    t.strictSame(await Promise.all(workers.map(async ({ next }) => await next())), workers.map(() => 'made'))
    const db = open()
    t.strictSame(inOrder(await definitions(db)), expected)
    t.equal((await db.selectFrom('note').select('id').execute()).length, workers.length)
    await db.destroy()
    await remove()
  }
})

/** Definitions in an order that does not tell which table was made first. */
function inOrder (all: readonly Definition[]): string[] {
  return all.map((definition) => definition.join(': ')).sort()
}

function fileDatabase (path: string): Awaited<ReturnType<typeof emptyDatabase>> {
  return { url: path, open: () => openSqlite(path), remove: async () => {} }
}
