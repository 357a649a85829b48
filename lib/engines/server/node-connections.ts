import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AbandonedConnections } from './abandoned-connections.js'
import { NoneIsFree } from './nodes.js'
import { Semaphore } from './semaphore.js'
import { connectTimeout, driverTimeout, type ServerOptions } from './server-options.js'

/** What a connection is wanted for; what is not known counts as a write. */
export type Purpose = 'read' | 'write'

/** A connection of the driver that is in use until it is released. */
export interface Lease<Raw> {
  readonly raw: Raw
  release (): void
  /** Its answer is overdue: it is in use until the server has done with it. */
  abandon (): void
}

interface Driver<Raw> {
  readonly options: Required<Pick<ServerOptions, 'connections' | 'readonly' | 'statementTimeout'>>
  /** Takes a connection from the pool. */
  take (): Promise<Raw>
  socketOf (raw: Raw): Duplex
  /** By which the server knows a connection. */
  idOf (raw: Raw): number
  askBusy (ids: readonly number[]): Promise<ReadonlySet<number>>
}

/** One of so many connections is kept for reads, if there is more than one. */
const connectionsPerKept = 5

/** The connections to one node: which of them are in use, and that they are closed at the end. */
export class NodeConnections<Raw extends object> {
  readonly #driver: Driver<Raw>
  /** Each open one, and whether it is in use. */
  readonly #sockets = new Map<Duplex, boolean>()
  #inUse = 0
  readonly #abandoned: AbandonedConnections
  readonly #writes: Semaphore

  constructor (driver: Driver<Raw>) {
    this.#driver = driver
    this.#abandoned = new AbandonedConnections(driver.askBusy)
    this.#writes = new Semaphore(writesAtOnce(driver.options))
  }

  /** Takes note of a connection that was opened. */
  opened (raw: Raw): void {
    const socket = this.#driver.socketOf(raw)
    this.#sockets.set(socket, false)
    socket.once('close', () => { this.#sockets.delete(socket) })
  }

  /**
   * A connection of the pool; writes that wait for a standby or a lock leave some for reads.
   *
   * @throws NoneIsFree if all are in use; else what the driver threw
   */
  async take (purpose: Purpose): Promise<Lease<Raw>> {
    const isWrite = purpose === 'write'
    if (isWrite && !this.#writes.tryAcquire()) await this.#writes.waitForRelease()
    try {
      return this.#lease(await this.#driver.take(), isWrite)
    } catch (error) {
      if (isWrite) this.#writes.release()
      if (this.#inUse < this.#driver.options.connections) throw error
      throw new NoneIsFree('No connection has become free', { cause: error })
    }
  }

  /**
   * Waits until every connection is closed. One that is idle and one whose answer is overdue have two seconds for their
   * goodbye, which a server that has vanished never answers; one that works has its deadline first.
   *
   * @param ended  resolved when the pool has none that works
   */
  async close (ended: Promise<unknown>): Promise<void> {
    const destroy = (socket: Duplex): void => { socket.destroy() }
    const isIdle = (socket: Duplex): boolean => this.#sockets.get(socket) !== true || this.#abandoned.has(socket)
    const goodbye = setTimeout(() => { [...this.#sockets.keys()].filter(isIdle).forEach(destroy) }, connectTimeout)
    const latest = new AbortController()
    const longest = driverTimeout(this.#driver.options.statementTimeout) + connectTimeout
    await Promise.race([
      ended.then(async () => await Promise.all([...this.#sockets.keys()].map(closed))),
      sleep(longest, undefined, { signal: latest.signal }).catch(() => {})
    ])
    latest.abort()
    clearTimeout(goodbye)
    for (const socket of this.#sockets.keys()) destroy(socket)
  }

  /** A connection that has closed meanwhile is not among them any more. */
  #mark (socket: Duplex, isInUse: boolean): void {
    if (this.#sockets.has(socket)) this.#sockets.set(socket, isInUse)
  }

  #lease (raw: Raw, isWrite: boolean): Lease<Raw> {
    const socket = this.#driver.socketOf(raw)
    this.#inUse++
    this.#mark(socket, true)
    return {
      raw,
      release: () => {
        this.#inUse--
        this.#mark(socket, false)
        this.#abandoned.delete(socket)
        if (isWrite) this.#writes.release()
      },
      abandon: () => { this.#abandoned.add(socket, this.#driver.idOf(raw)) }
    }
  }
}

async function closed (socket: Duplex): Promise<void> {
  await new Promise((resolve) => { socket.once('close', resolve) })
}

function writesAtOnce ({ connections, readonly }: Driver<never>['options']): number {
  if (readonly || connections === 1) return connections
  return connections - Math.max(1, Math.floor(connections / connectionsPerKept))
}
