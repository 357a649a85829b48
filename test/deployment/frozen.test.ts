// @once: starts a server of its own
// @alone: ends processes
// @long: waits until a server that does not answer is given up

import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import tap, { test } from 'tap'
import { freeze } from '../failover/processes.js'
import { lacks } from '../support/engines/lacks.js'
import { startPostgres } from '../support/engines/postgres-server.js'
import { secondsToEnd, start } from './image.js'

tap.setTimeout(60_000)

test('D-241: it ends in its time while its database does not answer, and so do the requests', async (t) => {
  if (lacks(t, 'postgres')) return
  const database = await startPostgres()
  t.teardown(database.stop)
  const { address, child } = await start(t, { DATABASE_URL: database.url })
  const ask = async (): Promise<number> => (await fetch(`${address}/api/note/?limit=1`)).status
  const askAll = async () => [...new Set(await Promise.all(Array.from({ length: 20 }, ask)))]
  t.same(await askAll(), [200], 'its connections are open')
  const goOn = await freeze(database)
  t.teardown(goOn)
  const asked = askAll()
  await wait(200)
  const exited = once(child, 'exit')
  const signalled = performance.now()
  child.kill('SIGTERM')
  t.same(await exited, [0, null])
  t.ok(performance.now() - signalled < secondsToEnd * 1000, `after ${performance.now() - signalled} ms`)
  t.same(await asked, [503], 'each request is answered')
})
