// @once: on SQLite; npm run fuzz sends more, on any engine
// @alone: takes as long as a group, and listens for failures of its process
// @long: sends 5,000 requests

import { test } from 'tap'
import { fuzz } from './run.js'

test('5,000 random requests, handed over and through sockets, find no fault', async (t) => {
  const seed = Number(process.env['FUZZ_SEED'] ?? 20261122)
  const { requests, connections, statuses } = await fuzz({ engine: 'sqlite', requests: 5000, seed })
  t.ok(requests >= 5000, `seed ${seed}`)
  t.ok(connections > 1000)
  for (const status of [200, 201, 204, 400, 401, 403, 404, 405, 409, 415]) {
    t.ok((statuses[status] ?? 0) > 0, `some are answered ${status}`)
  }
})
