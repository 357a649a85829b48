import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

const given = new Set<number>()

/**
 * A port of 127.0.0.1 that nobody listens on, below those which the kernel gives to outgoing connections: it stays free
 * over a restart.
 */
export async function freePort (): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if (given.has(port) || !await canListen(port)) continue
    given.add(port)
    return port
  }
}

async function canListen (port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
