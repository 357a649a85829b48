import type { Duplex } from 'node:stream'

/**
 * Milliseconds between two questions to the server: for which abandoned connections does it still run a statement?
 * Those connections count as in use.
 */
const askIntervalMs = 1000

/**
 * Function that gets the ids of connections, and returns those for which the server still works on a statement. It
 * rejects if the server gives no answer.
 */
type AskBusy = (ids: readonly number[]) => Promise<ReadonlySet<number>>

/**
 * Connections on which an answer is overdue. The server may go on with the statement for any time: a commit that waits
 * for a standby does not end with its connection. So each connection stays open and counts as in use, until its answer
 * comes or the server no longer works for it.
 */
export class AbandonedConnections {
  readonly #ids = new Map<Duplex, number>()
  readonly #askBusy: AskBusy
  #isWatching = false

  constructor (askBusy: AskBusy) {
    this.#askBusy = askBusy
  }

  /**
   * Adds a connection, and asks the server about it every second, until it is deleted or closed. Closes its socket if
   * the server no longer works for it.
   *
   * @param id  by which the server knows the connection
   */
  add (socket: Duplex, id: number): void {
    this.#ids.set(socket, id)
    if (!this.#isWatching) this.#watch()
  }

  has (socket: Duplex): boolean {
    return this.#ids.has(socket)
  }

  delete (socket: Duplex): void {
    this.#ids.delete(socket)
  }

  /** Asks the server every second as long as there is an abandoned connection, even if the last question failed. */
  #watch (): void {
    this.#isWatching = this.#ids.size > 0
    if (!this.#isWatching) return
    setTimeout(() => { this.#closeIdle().finally(() => { this.#watch() }) }, askIntervalMs).unref()
  }

  async #closeIdle (): Promise<void> {
    const asked = [...this.#ids]
    if (asked.length === 0) return
    try {
      const busy = await this.#askBusy(asked.map(([, id]) => id))
      for (const [socket, id] of asked) if (!busy.has(id)) socket.destroy()
    } catch { /* A server that does not answer cannot serve other connections either: it is asked again. */ }
  }
}
