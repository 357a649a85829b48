// @once: about files of SQLite, and processes that share them
// @alone: starts and ends processes
// @long: four processes open a file again and again

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { test } from 'tap'
import { startWorker } from '../support/workers.js'

test('R-05: processes that open one new file at once all find the same tables', { timeout: 60_000 }, async (t) => {
  const directory = t.testdir()
  const workers = [1, 2, 3, 4].map(() => startWorker<string>(t, 'reliability/opener.ts'))
  for (const { next } of workers) t.equal(await next(), 'ready')
  for (let round = 0; round < 30; round++) {
    const path = join(directory, `${round}.db`)
    for (const { send } of workers) send(path)
    t.strictSame(await Promise.all(workers.map(async ({ next }) => await next())), Array(workers.length).fill('opened'))
    const database = new Database(path, { readonly: true })
    t.equal(database.prepare('select count(*) from note').pluck().get(), workers.length)
    database.close()
  }
})
