// @once: needs no database

import { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { NodeConnections } from '../../lib/engines/server/node-connections.js'

class Socket extends Duplex {
  override _read (): void {}
}

test('a connection that breaks in use is forgotten when it is released, so closing does not wait for it', async (t) => {
  const socket = new Socket()
  const connection = { socket }
  const connections = new NodeConnections<{ readonly socket: Duplex }>({
    options: { connections: 2, readonly: false, statementTimeout: 60_000 },
    take: async () => connection,
    socketOf: (raw) => raw.socket,
    idOf: () => 1,
    askBusy: async () => new Set<number>()
  })
  connections.opened(connection)
  const lease = await connections.take('read')
  socket.destroy()
  await sleep(0)
  lease.release()
  const start = performance.now()
  await connections.close(Promise.resolve())
  t.ok(performance.now() - start < 1000)
})
