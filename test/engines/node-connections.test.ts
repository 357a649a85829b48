// @once: needs no database

import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { NodeConnections } from '../../lib/engines/server/node-connections.js'

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
