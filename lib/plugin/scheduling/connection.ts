import type { Socket } from 'node:net'
import type { Exchange, ExchangeConnection } from './exchange.js'

/** Most requests of a connection that are served at a time. Later ones wait until the client has taken an answer. */
const maxServed = 16

/** A connection of HTTP/1: the answers that its client has not taken, in order, and the requests that wait for that. */
export class Connection implements ExchangeConnection {
  /** True if it was closed for having sent too many requests. */
  isFlooded = false
  readonly #socket: Socket
  readonly #exchanges: Exchange[] = []
  readonly #parked = new Map<Exchange, () => void>()
  #unread: { readonly head: Exchange, readonly since: number } | undefined

  constructor (socket: Socket) {
    this.#socket = socket
    socket.once('close', () => {
      const parked = [...this.#parked.values()]
      this.#parked.clear()
      for (const goOn of parked) goOn()
      for (const exchange of [...this.#exchanges]) exchange.queue?.clientGone(exchange)
    })
  }

  /** Adds a request. Returns how many requests have no answer yet, or one that the client has not taken. */
  add (exchange: Exchange): number {
    this.forgetTaken()
    return this.#exchanges.push(exchange)
  }

  /** True if a request may be served now: at most 15 are before it, and no answer waits for the client to take it. */
  mayServe (exchange: Exchange): boolean {
    if (this.#exchanges[0] === exchange) return true
    this.forgetTaken()
    return this.#exchanges[0]?.answer.writableEnded !== true && this.#exchanges.indexOf(exchange) < maxServed
  }

  /** Calls `goOn` when a request may be served or its client has gone: hosts count requests that begin and end. */
  park (exchange: Exchange, goOn: () => void): void {
    if (this.#parked.size === 0) this.#listen()
    this.#parked.set(exchange, goOn)
  }

  /** True if no answer is due or waits for the client, or if the connection is closed. */
  isDone (): boolean {
    this.forgetTaken()
    return this.#exchanges.length === 0 || this.#socket.destroyed
  }

  /** Returns the bytes of answers that the client has not taken. */
  countUnread (now: number): number {
    const [head] = this.#exchanges
    if (head?.answer.writableEnded !== true) this.#unread = undefined
    else if (this.#unread?.head !== head) this.#unread = { head, since: now }
    return this.#exchanges.reduce((sum, { answer }) => sum + answer.writableLength, 0)
  }

  /** Returns the milliseconds that a finished answer has waited to be read, going by {@link countUnread}; else 0. */
  unreadFor (now: number): number {
    return this.#unread === undefined ? 0 : now - this.#unread.since
  }

  close (): void {
    this.#socket.destroy()
  }

  #listen (): void {
    this.#exchanges[0]?.answer.once('close', this.#serveNext)
  }

  readonly #serveNext = (): void => {
    // All are tried, because a request whose body came late is parked behind later ones that wait for its answer.
    for (const [exchange, goOn] of [...this.#parked]) {
      if (!this.mayServe(exchange)) continue
      this.#parked.delete(exchange)
      goOn()
    }
    if (this.#parked.size > 0) this.#listen()
  }

  /**
   * Forgets requests whose answers were taken. It is called as soon as they are, because objects that live until the
   * next request take long to collect as garbage. Requests that wait or have a slot stay: they must learn that their
   * client has gone.
   */
  forgetTaken (): void {
    for (let [head] = this.#exchanges; head?.isOver === true; [head] = this.#exchanges) {
      this.#exchanges.shift()
    }
  }
}
