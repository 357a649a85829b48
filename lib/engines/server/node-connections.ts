import type { Duplex } from 'node:stream'
import type { Events } from '../../events/events.js'
import type { PoolState } from '../health.js'
import { Semaphore } from '../semaphore.js'
import { AbandonedConnections } from './abandoned-connections.js'
import { connectionFailure, type ServerWords } from './connection-failure.js'
import { NoneIsFree } from './nodes.js'
import { OpenSockets } from './open-sockets.js'
import { connectTimeoutMs, driverTimeout, type ServerOptions } from './server-options.js'

/**
 * Purpose for which a connection is taken:
 * - `read`: records that a client gets, by a list or by the operation `read`
 * - `lookup`: a short read that any request may need: of the user, or of the record that is to be changed
 * - `write`: a write, a transaction, or an unknown purpose
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
  /** Gets the event `queue` if a statement or a transaction finds no free connection in time. */
  readonly events?: Events
  /** Takes a connection from the pool. */
  take (): Promise<Raw>
  socketOf (raw: Raw): Duplex
  /** Returns the id by which the server knows a connection. */
  idOf (raw: Raw): number
  askBusy (ids: readonly number[]): Promise<ReadonlySet<number>>
}

/**
 * One of every 5 connections in a pool is kept for reads, so that writes cannot take it. A pool of 2 to 4 also keeps
 * one. A pool of one, or of a read-only database, keeps none.
 */
const connectionsPerKept = 5
/**
 * Milliseconds after the last write during which reads take at most `readConnections` connections, and so leave some to
 * writes.
 */
const writeIntervalMs = 10_000

/**
 * The connections of this process to one node. A node is one database server, of several that hold the same database.
 * Lends the connections, knows which are in use, and closes all of them in `close()`.
 */
export class NodeConnections<Raw extends object> {
  readonly #driver: Driver<Raw>
  readonly #sockets = new OpenSockets()
  #inUse = 0
  #waiting = 0
  readonly #abandoned: AbandonedConnections
  /**
   * Limits how many connections reads take at the same time, and how many writes take. Undefined for lookups, which may
   * take any connection.
   */
  readonly #shares: Readonly<Record<Purpose, Semaphore | undefined>>
  #wroteAt = -Infinity

  constructor (driver: Driver<Raw>) {
    this.#driver = driver
    this.#abandoned = new AbandonedConnections(driver.askBusy)
    const { options, options: { connections, readConnections } } = driver
    const writes = writesAtOnce(options)
    const isQuiet = (): boolean => performance.now() - this.#wroteAt > writeIntervalMs
    this.#shares = {
      read: new Semaphore(() => isQuiet() ? connections : readConnections, noneIsFree),
      lookup: undefined,
      write: new Semaphore(() => writes, noneIsFree)
    }
  }

  /** The open connections, and how many statements and transactions wait for one. */
  get pool (): PoolState {
    return { ...this.#sockets.counts, waiting: this.#waiting }
  }

  /** Notes a connection that the driver has opened. It then counts in `pool`, and `close()` closes it. */
  opened (raw: Raw): void {
    this.#sockets.add(this.#driver.socketOf(raw))
  }

  /**
   * Takes a connection from the pool. A read waits up to two seconds while reads use their whole share of the pool, and
   * a write while writes use theirs. So slow reads do not stop writes, and writes that wait for a standby or a lock do
   * not stop reads.
   *
   * @throws NoneIsFree if no connection becomes free, which is published as an event; otherwise the error of the
   *   driver, with a message that names the server and says what to check
   */
  async take (purpose: Purpose): Promise<Lease<Raw>> {
    const start = performance.now()
    this.#waiting++
    try {
      return await this.#take(purpose)
    } catch (error) {
      if (error instanceof NoneIsFree) this.#publishRefusal(start)
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
      throw noneIsFree({ cause: error })
    }
  }

  /**
   * Waits until every connection is closed. After the driver's time-out for a statement and two more seconds, it closes
   * those that are still open; see {@link OpenSockets.close}.
   *
   * @param ended  resolves when no connection of the pool runs a statement any more
   */
  async close (ended: Promise<unknown>): Promise<void> {
    await this.#sockets.close(ended, {
      isOverdue: (socket) => this.#abandoned.has(socket),
      maxWaitMs: driverTimeout(this.#driver.options.statementTimeout) + connectTimeoutMs
    })
  }

  #publishRefusal (start: number): void {
    this.#driver.events?.publish('queue', {
      queue: 'connections', outcome: 'late', duration: performance.now() - start, waiting: this.#waiting - 1
    })
  }

  #lease (raw: Raw, share: Semaphore | undefined): Lease<Raw> {
    const socket = this.#driver.socketOf(raw)
    this.#inUse++
    this.#sockets.mark(socket, true)
    return {
      raw,
      release: () => {
        this.#inUse--
        this.#sockets.mark(socket, false)
        this.#abandoned.delete(socket)
        share?.release()
      },
      abandon: () => { this.#abandoned.add(socket, this.#driver.idOf(raw)) }
    }
  }
}

function noneIsFree (options?: ErrorOptions): NoneIsFree {
  return new NoneIsFree('No connection has become free', options)
}

function writesAtOnce ({ connections, readonly }: Driver<never>['options']): number {
  if (readonly || connections === 1) return connections
  return connections - Math.max(1, Math.floor(connections / connectionsPerKept))
}
