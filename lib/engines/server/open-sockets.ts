import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolState } from '../health.js'
import { connectTimeoutMs } from './server-options.js'

/** Rules of {@link OpenSockets} for closing its sockets. */
interface Closing {
  /** True for the socket of a connection on which the answer to a statement is overdue. */
  isOverdue (socket: Duplex): boolean
  /** Maximum milliseconds to wait for the sockets in use. */
  readonly maxWaitMs: number
}

/** Sockets of the open connections to one node. It knows which are in use, and closes them. */
export class OpenSockets {
  /** True for a socket that is in use, false for one that is idle. */
  readonly #sockets = new Map<Duplex, boolean>()

  /** The number of open sockets, and of those that are idle. */
  get counts (): Pick<PoolState, 'size' | 'idle'> {
    const idle = [...this.#sockets.values()].filter((isInUse) => !isInUse)
    return { size: this.#sockets.size, idle: idle.length }
  }

  /** Notes the socket of a connection that was opened. */
  add (socket: Duplex): void {
    this.#sockets.set(socket, false)
    socket.once('close', () => { this.#sockets.delete(socket) })
  }

  /** Notes whether a socket is in use. Does nothing if the socket has closed meanwhile. */
  mark (socket: Duplex, isInUse: boolean): void {
    if (this.#sockets.has(socket)) this.#sockets.set(socket, isInUse)
  }

  /**
   * Waits until every socket is closed. One whose answer is overdue is closed at once: nobody waits for the answer any
   * more, and the server goes on without the connection. A server that has vanished never answers a goodbye, so an idle
   * connection is closed after two seconds. All others are closed after at most `maxWaitMs` milliseconds.
   *
   * @param ended  resolves when no connection of the pool runs a statement any more
   */
  async close (ended: Promise<unknown>, { isOverdue, maxWaitMs }: Closing): Promise<void> {
    const isIdle = (socket: Duplex): boolean => this.#sockets.get(socket) !== true || isOverdue(socket)
    this.#destroyIf(isOverdue)
    const goodbye = setTimeout(() => { this.#destroyIf(isIdle) }, connectTimeoutMs)
    const latest = new AbortController()
    await Promise.race([
      ended.then(async () => await Promise.all([...this.#sockets.keys()].map(closed))),
      sleep(maxWaitMs, undefined, { signal: latest.signal }).catch(() => {})
    ])
    latest.abort()
    clearTimeout(goodbye)
    this.#destroyIf(() => true)
  }

  #destroyIf (isIt: (socket: Duplex) => boolean): void {
    for (const socket of [...this.#sockets.keys()].filter(isIt)) socket.destroy()
  }
}

async function closed (socket: Duplex): Promise<void> {
  await new Promise((resolve) => { socket.once('close', resolve) })
}
