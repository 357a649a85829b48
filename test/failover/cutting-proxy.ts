import { once } from 'node:events'
import { connect, createServer, Socket, type AddressInfo } from 'node:net'
import { Duplex } from 'node:stream'
import type { Test } from 'tap'

/**
 * A TCP proxy in front of a database. Connections break at random, at the statements of writes and at their commits.
 */
export interface CuttingProxy {
  readonly url: string
  /**
   * Labels of the writes that this process has sent with nothing left to do but to answer: outside a transaction, or
   * with their commit.
   */
  readonly sent: ReadonlySet<string>
  /** How often each fault happened. */
  readonly faults: Readonly<Record<string, number>>
}

/** A statement on its way to the server, and the two ends of its connection. */
interface Passing {
  readonly near: Socket
  readonly far: Socket
  readonly chunk: Buffer
}

const noPassing = (far: Socket): void => { far.removeAllListeners('data').resume() }

/** What happens to a statement; `pass` does to all others. */
const faults: Readonly<Record<string, (passing: Passing) => void>> = {
  'cut before': ({ near }) => { near.destroy() },
  'reset before': ({ near }) => { near.resetAndDestroy() },
  'cut within': ({ near, far, chunk }) => {
    far.write(chunk.subarray(0, chunk.length >> 1), () => { near.destroy() })
  },
  'cut behind': ({ near, far, chunk }) => {
    noPassing(far)
    far.write(chunk, () => setTimeout(() => { near.destroy() }, 30))
  },
  'reset behind': ({ near, far, chunk }) => {
    noPassing(far)
    far.write(chunk, () => setTimeout(() => { near.resetAndDestroy() }, 30))
  },
  'no answer': ({ far, chunk }) => {
    noPassing(far)
    far.write(chunk)
  },
  'late answer': ({ near, far, chunk }) => {
    noPassing(far)
    far.on('data', (answer) => setTimeout(() => { if (near.writable) near.write(answer) }, 1800))
    far.write(chunk)
  },
  'late statement': ({ far, chunk }) => { setTimeout(() => { if (far.writable) far.write(chunk) }, 1800) },
  'cut after the answer': ({ near, far, chunk }) => {
    far.once('data', () => setImmediate(() => { near.resetAndDestroy() }))
    far.write(chunk)
  }
}
const faultNames = Object.keys(faults)
/** Statements of writes, of which one breaks. */
const oneIn = 20

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Follows one connection: which statements belong to a transaction, and of which write. */
class Follower {
  readonly #sent: Set<string>
  #label: string | undefined
  #isOpen = false

  constructor (sent: Set<string>) {
    this.#sent = sent
  }

  /** Notes a statement. Returns true if it is one of a write. */
  note (chunk: Buffer): boolean {
    const text = chunk.toString('latin1')
    if (/\bbegin\b/.test(text)) this.#isOpen = true
    const label = /<\d+>/.exec(text)?.[0]
    if (label !== undefined) this.#label = label
    const isCommit = /\bcommit\b/.test(text)
    if (this.#label !== undefined && (isCommit || (label !== undefined && !this.#isOpen))) this.#sent.add(this.#label)
    const isOfWrite = label !== undefined || isCommit || this.#isOpen
    if (isCommit || /\brollback\b/.test(text)) this.#isOpen = false
    return isOfWrite
  }
}

/** Notes what this process sends to a port, before it is lost on its way. */
function followSent (t: Test, port: number): ReadonlySet<string> {
  const sent = new Set<string>()
  const followers = new WeakMap<Socket, Follower>()
  const { write } = Duplex.prototype
  Object.assign(Socket.prototype, {
    write (this: Socket, ...given: Parameters<Socket['write']>): boolean {
      if (this.remotePort === port) {
        const follower = followers.get(this) ?? new Follower(sent)
        followers.set(this, follower)
        follower.note(Buffer.from(given[0]))
      }
      return write.call(this, ...given as Parameters<typeof write>)
    }
  })
  t.teardown(() => { Reflect.deleteProperty(Socket.prototype, 'write') })
  return sent
}

export async function openCuttingProxy (t: Test, to: string, seed: number): Promise<CuttingProxy> {
  const target = new URL(to)
  const random = randomNumbers(seed)
  const counts: Record<string, number> = {}
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}).setNoDelay())
    far.on('close', () => { near.destroy() }).on('data', (chunk) => { near.write(chunk) })
    near.on('close', () => { far.destroy() })
    const follower = new Follower(new Set())
    near.on('data', (chunk: Buffer) => {
      const isOfWrite = follower.note(chunk)
      if (!isOfWrite || random() * oneIn > 1) {
        far.write(chunk)
        return
      }
      const name = faultNames[Math.floor(random() * faultNames.length)] ?? ''
      counts[name] = (counts[name] ?? 0) + 1
      faults[name]?.({ near, far, chunk })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  const sent = followSent(t, port)
  return { url: Object.assign(new URL(to), { port: String(port) }).href, sent, faults: counts }
}
