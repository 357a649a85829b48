// @once: needs no database

import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type Test } from 'tap'
import { AbandonedConnections } from '../../lib/engines/server/abandoned-connections.js'
import { NodeConnections, type Lease, type Purpose } from '../../lib/engines/server/node-connections.js'
import { checkServerOptions } from '../../lib/engines/server/server-options.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'

class Socket extends Duplex {
  override _read (): void {}
}

/** Connections to a node that always gives the same one. */
function connectionsOf (socket: Duplex, statementTimeout: number): NodeConnections<{ readonly socket: Duplex }> {
  const connection = { socket }
  const connections = new NodeConnections<{ readonly socket: Duplex }>({
    options: { connections: 2, readConnections: 1, readonly: false, statementTimeout },
    server: { name: 'PostgreSQL', opener: 'openPostgres()', host: 'db' },
    take: async () => connection,
    socketOf: (raw) => raw.socket,
    idOf: () => 1,
    askBusy: async () => new Set<number>()
  })
  connections.opened(connection)
  return connections
}

test('a connection that breaks in use is forgotten when it is released, so closing does not wait for it', async (t) => {
  const socket = new Socket()
  const connections = connectionsOf(socket, 60_000)
  const lease = await connections.take('read')
  socket.destroy()
  await sleep(0)
  lease.release()
  const start = performance.now()
  await connections.close(Promise.resolve())
  t.ok(performance.now() - start < 1000)
})

test('D-239: a connection whose answer is overdue is closed at once', async (t) => {
  const socket = new Socket()
  const connections = connectionsOf(socket, 60_000)
  const lease = await connections.take('write')
  lease.abandon()
  const start = performance.now()
  await connections.close(Promise.resolve())
  t.ok(performance.now() - start < 1000)
  t.equal(socket.destroyed, true)
})

test('a connection whose statement never ends is closed when its deadline and two seconds are over', async (t) => {
  const socket = new Socket()
  const connections = connectionsOf(socket, 1)
  await connections.take('read')
  const start = performance.now()
  await connections.close(new Promise(() => {}))
  const took = performance.now() - start
  t.ok(took > 1900 && took < 10_000, `after ${took} ms`)
  t.equal(socket.destroyed, true)
})

/** Leases of connections of a large pool, and a clock that can be put forward. */
function sharedPool (t: Test, { connections, readConnections }: Record<'connections' | 'readConnections', number>) {
  const now = performance.now.bind(performance)
  let ahead = 0
  t.intercept(performance, 'now', { value: () => now() + ahead, configurable: true })
  const pool = new NodeConnections<{ readonly socket: Duplex }>({
    options: { connections, readConnections, readonly: false, statementTimeout: 1 },
    server: { name: 'PostgreSQL', opener: 'openPostgres()', host: 'db' },
    take: async () => ({ socket: new Socket() }),
    socketOf: (raw) => raw.socket,
    idOf: () => 1,
    askBusy: async () => new Set<number>()
  })
  const taken: Record<Purpose, Array<Lease<object>>> = { read: [], lookup: [], write: [] }
  const take = async (purpose: Purpose, count = 1): Promise<void> => {
    for (let number = 0; number < count; number++) {
      pool.take(purpose).then((lease) => { taken[purpose].push(lease) }, () => {})
    }
    await sleep(1)
  }
  const give = async (purpose: Purpose): Promise<void> => {
    taken[purpose].shift()?.release()
    await sleep(1)
  }
  const counts = () => [taken.read.length, taken.lookup.length, taken.write.length]
  return { take, give, counts, putForward: (milliseconds: number) => { ahead += milliseconds } }
}

test('D-236: reads leave connections to writes, from the first write until ten seconds after the last', async (t) => {
  const { take, give, counts, putForward } = sharedPool(t, { connections: 10, readConnections: 5 })
  await take('read', 12)
  t.same(counts(), [10, 0, 0], 'without writes, reads may have all')
  await take('write')
  t.same(counts(), [10, 0, 1], 'the driver decides when a write gets one')
  for (let number = 0; number < 5; number++) await give('read')
  t.same(counts(), [5, 0, 1], 'those that are given back are kept for writes')
  await give('read')
  t.same(counts(), [5, 0, 1], 'one goes, and the next one comes')
  await take('read')
  putForward(10_001)
  t.same(counts(), [5, 0, 1])
  await give('read')
  t.same(counts(), [6, 0, 1], 'all that waited')
  await take('read', 5)
  t.same(counts(), [10, 0, 1])
})

test('D-236: reads that wait while writes rest do not keep others waiting', async (t) => {
  const { take, counts, putForward } = sharedPool(t, { connections: 10, readConnections: 2 })
  await take('write')
  await take('read', 4)
  t.same(counts(), [2, 0, 1])
  putForward(10_001)
  await take('read')
  t.same(counts(), [5, 0, 1], 'nobody has given a connection back')
})

test('D-237: lookups for a write wait neither for reads nor for writes', async (t) => {
  const { take, counts } = sharedPool(t, { connections: 10, readConnections: 5 })
  await take('write', 10)
  t.same(counts(), [0, 0, 8], 'a fifth is kept')
  await take('read', 10)
  await take('lookup', 3)
  t.same(counts(), [5, 3, 8])
})

test('D-236: the share of reads must fit the pool, and has a default that does', async (t) => {
  for (const open of [openPostgres, openMariadb]) {
    for (const [readConnections, connections] of [[0, 10], [11, 10], [2, 1], [2.5, 10], ['5', 10]]) {
      t.throws(
        () => open(`${open === openPostgres ? 'postgres' : 'mariadb'}://a/site`, {
          readConnections: readConnections as number, connections: connections as number
        }),
        { code: 'REST_MODELS_INVALID_OPTIONS', message: /^'readConnections' of open\w+\(\) must be / },
        `${readConnections} of ${connections}`)
    }
  }
  const shares = [1, 3, 4, 5, 10].map((connections) =>
    checkServerOptions('openPostgres()', { options: { connections }, nodes: 1 }).readConnections)
  t.same(shares, [1, 3, 2, 2, 5])
})

test('a server is not asked about overdue answers if all have come meanwhile', async (t) => {
  const asked: Array<readonly number[]> = []
  const abandoned = new AbandonedConnections(async (ids) => {
    asked.push(ids)
    return new Set(ids)
  })
  const [early, late] = [new Socket(), new Socket()]
  abandoned.add(early, 1)
  abandoned.delete(early)
  await sleep(1100)
  abandoned.add(late, 2)
  await sleep(1100)
  abandoned.delete(late)
  t.same(asked, [[2]])
})
