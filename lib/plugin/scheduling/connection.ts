import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Most requests of a connection that are served at a time. Later ones wait until the client has taken an answer. */
const maxServed = 16

/** A connection of HTTP/1: the answers that its client has not taken, in order, and the requests that wait for that. */
export class Connection {
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

const kExchange = Symbol('fastify-rest-models.exchange')

interface Marked extends ServerResponse {
  [kExchange]?: Exchange
}

/** A queue in which requests wait, or whose slots they have. */
interface ExchangeQueue {
  /** Notes that a client has gone, or has all of an answer. */
  clientGone (exchange: Exchange): void
}

/**
 * A request and its answer, until the client has taken the answer. Its state is in its own fields. A Map or a WeakSet
 * with an entry for each request costs a tenth of a short request in garbage collection.
 */
export class Exchange {
  readonly answer: ServerResponse
  /** The connection of HTTP/1. */
  readonly connection: Connection | undefined
  /** The queue in which it waits or has a slot. */
  queue: ExchangeQueue | undefined
  /**
   * The step that it has reached. If `handled`, it keeps its slot until the handler is done, even if the client goes.
   */
  state: 'free' | 'waiting' | 'running' | 'handled' = 'free'
  /** Milliseconds of `performance.now()` when it began to wait. */
  waitsSince = 0
  /** Ends its waiting. */
  goOn: ((failure?: Error) => void) | undefined

  constructor (answer: ServerResponse, connection: Connection | undefined) {
    this.answer = answer
    this.connection = connection
    const marked: Marked = answer
    marked[kExchange] = this
    answer.on('close', end)
  }

  /** True if nobody takes any more of the answer, and no queue has to learn that. A handler runs to its end anyway. */
  get isOver (): boolean {
    const isTaken = this.answer.writableFinished || this.answer.destroyed
    return isTaken && (this.state === 'free' || this.state === 'handled')
  }
}

export function exchangeOf (answer: ServerResponse): Exchange | undefined {
  const marked: Marked = answer
  return marked[kExchange]
}

/**
 * Ends the exchange of an answer that was closed. It is one listener for all answers: a closure for each costs ten
 * times as much. Node reports no close for an answer behind others of a connection that ends; there the connection does
 * this.
 */
function end (this: ServerResponse): void {
  const exchange = exchangeOf(this)
  // If a hook answers, the handler does not run, and so does not give the slot back.
  exchange?.queue?.clientGone(exchange)
  exchange?.connection?.forgetTaken()
}
