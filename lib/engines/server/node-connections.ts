import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Events } from '../../events/events.js'
import type { PoolState } from '../health.js'
import { AbandonedConnections } from './abandoned-connections.js'
import { connectionFailure, type ServerWords } from './connection-failure.js'
import { NoneIsFree } from './nodes.js'
import { Semaphore } from './semaphore.js'
import { connectTimeout, driverTimeout, type ServerOptions } from './server-options.js'

/**
 * Purpose for which a connection is taken:
 * - `read`: the rows of a list or a read
 * - `lookup`: a short read that any request may need: of the user, or of the record that is to be changed
 * - `write`: a write or a transaction; also if the purpose is unknown
 */
export type Purpose = 'read' | 'lookup' | 'write'

/** Connection of the driver, in use until it is released. */
export interface Lease<Raw> {
  readonly raw: Raw
  release (): void
  /**
   * Notes that the answer to a statement on this connection is overdue. The connection stays in use until it is
   * released, and is closed if the server no longer works for it.
   */
  abandon (): void
}

interface Driver<Raw> {
  readonly options: Required<
    Pick<ServerOptions, 'connections' | 'readConnections' | 'readonly' | 'statementTimeout'>>
  readonly server: ServerWords
  /** Is told of statements that find no free connection. */
  readonly events?: Events
  /** Takes a connection from the pool. */
  take (): Promise<Raw>
  socketOf (raw: Raw): Duplex
  /** Returns the id by which the server knows a connection. */
  idOf (raw: Raw): number
  askBusy (ids: readonly number[]): Promise<ReadonlySet<number>>
}

/**
 * One connection of every 5 in a pool is kept for reads, so that writes cannot take it. A pool of 2 to 4 keeps one as
 * well. A pool of one, and that of a read-only database, keeps none.
 */
const connectionsPerKept = 5
/** Milliseconds after the last write for which reads leave connections to writes. */
const writeIntervalMs = 10_000

/**
 * The connections of this process to one node. A node is one database server, of several that hold the same database.
 * Lends the connections, knows which are in use, and closes all of them in `close()`.
 */
export class NodeConnections<Raw extends object> {
  readonly #driver: Driver<Raw>
  /** Sockets of the open connections; true for one that is in use, false for one that is idle. */
  readonly #sockets = new Map<Duplex, boolean>()
  #inUse = 0
  #waiting = 0
  readonly #abandoned: AbandonedConnections
  /** Limits the connections of each purpose; a lookup may take any connection. */
  readonly #shares: Readonly<Record<Purpose, Semaphore | undefined>>
  #wroteAt = -Infinity

  constructor (driver: Driver<Raw>) {
    this.#driver = driver
    this.#abandoned = new AbandonedConnections(driver.askBusy)
    const { options, options: { connections, readConnections } } = driver
    const writes = writesAtOnce(options)
    const isQuiet = (): boolean => performance.now() - this.#wroteAt > writeIntervalMs
    this.#shares = {
      read: new Semaphore(() => isQuiet() ? connections : readConnections),
      lookup: undefined,
      write: new Semaphore(() => writes)
    }
  }

  /** The open connections, and how many statements and transactions wait for one. */
  get pool (): PoolState {
    const idle = [...this.#sockets.values()].filter((isInUse) => !isInUse)
    return { size: this.#sockets.size, idle: idle.length, waiting: this.#waiting }
  }

  /** Notes a connection that was opened. */
  opened (raw: Raw): void {
    const socket = this.#driver.socketOf(raw)
    this.#sockets.set(socket, false)
    socket.once('close', () => { this.#sockets.delete(socket) })
  }

  /**
   * Takes a connection from the pool. A read waits up to two seconds while reads have their share of the pool, and a
   * write while writes have theirs. So slow reads do not stop writes, and writes that wait for a standby or a lock do
   * not stop reads.
   *
   * @throws NoneIsFree if no connection becomes free; otherwise the error of the driver, with words about the server
   */
  async take (purpose: Purpose): Promise<Lease<Raw>> {
    const start = performance.now()
    this.#waiting++
    try {
      return await this.#take(purpose)
    } catch (error) {
      if (error instanceof NoneIsFree) this.#tellRefusal(start)
      throw error
    } finally {
      this.#waiting--
    }
  }

  async #take (purpose: Purpose): Promise<Lease<Raw>> {
    if (purpose === 'write') this.#wroteAt = performance.now()
    const share = this.#shares[purpose]
    if (share?.tryAcquire() === false) await share.waitForRelease()
    try {
      return this.#lease(await this.#driver.take(), share)
    } catch (error) {
      share?.release()
      const { options, server } = this.#driver
      if (this.#inUse < options.connections) throw connectionFailure(error as Error, server)
      throw new NoneIsFree('No connection has become free', { cause: error })
    }
  }

  /**
   * Waits until every connection is closed. One whose answer is overdue is closed at once: nobody waits for the answer
   * any more, and the server goes on without the connection. A server that has vanished never answers a goodbye, so an
   * idle connection is closed after two seconds. All others are closed at the latest when the driver's time-out for a
   * statement and two seconds more have passed.
   *
   * @param ended  resolves when no connection of the pool works any more
   */
  async close (ended: Promise<unknown>): Promise<void> {
    const destroy = (socket: Duplex): void => { socket.destroy() }
    const isOverdue = (socket: Duplex): boolean => this.#abandoned.has(socket)
    const isIdle = (socket: Duplex): boolean => this.#sockets.get(socket) !== true || isOverdue(socket)
    const destroyIf = (isIt: typeof isIdle): void => { [...this.#sockets.keys()].filter(isIt).forEach(destroy) }
    destroyIf(isOverdue)
    const goodbye = setTimeout(() => { destroyIf(isIdle) }, connectTimeout)
    const latest = new AbortController()
    const maxWaitMs = driverTimeout(this.#driver.options.statementTimeout) + connectTimeout
    await Promise.race([
      ended.then(async () => await Promise.all([...this.#sockets.keys()].map(closed))),
      sleep(maxWaitMs, undefined, { signal: latest.signal }).catch(() => {})
    ])
    latest.abort()
    clearTimeout(goodbye)
    for (const socket of this.#sockets.keys()) destroy(socket)
  }

  #tellRefusal (start: number): void {
    this.#driver.events?.publish('queue', {
      queue: 'connections', outcome: 'late', duration: performance.now() - start, waiting: this.#waiting - 1
    })
  }

  /** Notes whether a connection is in use. A connection that has closed meanwhile stays forgotten. */
  #mark (socket: Duplex, isInUse: boolean): void {
    if (this.#sockets.has(socket)) this.#sockets.set(socket, isInUse)
  }

  #lease (raw: Raw, share: Semaphore | undefined): Lease<Raw> {
    const socket = this.#driver.socketOf(raw)
    this.#inUse++
    this.#mark(socket, true)
    return {
      raw,
      release: () => {
        this.#inUse--
        this.#mark(socket, false)
        this.#abandoned.delete(socket)
        share?.release()
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
