import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'

/** A TCP proxy in front of a database, which can be cut, slowed down and blocked. */
export interface TcpProxy {
  readonly url: string
  readonly port: number
  /** Passes on what holds a text, and cuts the connection before its answer comes back; how often that was so far. */
  cutBehind (text: string): () => number
  /** Milliseconds that everything takes on its way there. */
  slowDown (milliseconds: number): void
  /** From now on nothing comes through, and nobody is told: as when a machine vanishes. */
  freeze (): void
  /** As {@link freeze}, but for new connections: as when a firewall has forgotten those that there are. */
  freezeOpen (): void
  /** From now on connections are refused, and those that there are break. */
  close (): void
  /** How many connections there are to it. */
  readonly open: number
}

export async function openProxy (t: Test, to: string): Promise<TcpProxy> {
  const target = new URL(to)
  const state = { cut: undefined as string | undefined, cuts: 0, delay: 0, open: 0, isFrozen: false }
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    state.open++
    sockets.add(near)
    near.on('error', () => {}).on('close', () => { state.open-- })
    if (state.isFrozen) {
      near.pause()
      return
    }
    const far = connect(Number(target.port), target.hostname)
    sockets.add(far)
    far.on('error', () => {}).on('close', () => { near.destroy() })
    near.on('close', () => { far.destroy() })
    far.on('data', (chunk) => { near.write(chunk) })
    near.on('data', async (chunk: Buffer) => {
      if (state.delay > 0) await sleep(state.delay)
      if (state.cut !== undefined && chunk.includes(state.cut)) {
        state.cuts++
        far.removeAllListeners('data').resume()
        far.write(chunk, () => setTimeout(() => { near.destroy() }, 300))
      } else far.write(chunk)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(close)
  const { port } = server.address() as AddressInfo
  const freezeOpen = (): void => { for (const socket of sockets) socket.pause() }
  return {
    url: Object.assign(new URL(to), { port: String(port) }).href,
    port,
    cutBehind: (text) => { state.cut = text; state.cuts = 0; return () => state.cuts },
    slowDown: (milliseconds) => { state.delay = milliseconds },
    freeze: () => {
      state.isFrozen = true
      freezeOpen()
    },
    freezeOpen,
    close,
    get open () { return state.open }
  }
}
