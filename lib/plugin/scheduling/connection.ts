import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of a connection that are served at a time. Those behind them wait until their client has taken an answer. */
const maxServed = 16

/** A connection of HTTP/1: the answers that its client has not taken, in their order, and the requests that wait for that. */
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

  /** Adds a request and returns how many have no answer yet, or one that was not taken. */
  add (exchange: Exchange): number {
    this.forgetTaken()
    return this.#exchanges.push(exchange)
  }

  /** Whether a request may be served now: its client takes what it is answered, and does not ask for much at a time. */
  mayServe (exchange: Exchange): boolean {
    if (this.#exchanges[0] === exchange) return true
    this.forgetTaken()
    return this.#exchanges[0]?.answer.writableEnded !== true && this.#exchanges.indexOf(exchange) < maxServed
  }

  /** Calls back when a request may be served, or its client has gone: hosts count requests that begin and end. */
  park (exchange: Exchange, goOn: () => void): void {
    if (this.#parked.size === 0) this.#listen()
    this.#parked.set(exchange, goOn)
  }

  /** Whether there is nothing to be answered, or taken. */
  isDone (): boolean {
    this.forgetTaken()
    return this.#exchanges.length === 0 || this.#socket.destroyed
  }

  /** Bytes of answers that the client has not taken. */
  countUnread (now: number): number {
    const [head] = this.#exchanges
    if (head?.answer.writableEnded !== true) this.#unread = undefined
    else if (this.#unread?.head !== head) this.#unread = { head, since: now }
    return this.#exchanges.reduce((sum, { answer }) => sum + answer.writableLength, 0)
  }

  /** Milliseconds for which its client has not taken an answer, as far as {@link countUnread} has seen. */
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
    // A request whose body came late is behind those that came after it, and they wait for its answer.
    for (const [exchange, goOn] of [...this.#parked]) {
      if (!this.mayServe(exchange)) continue
      this.#parked.delete(exchange)
      goOn()
    }
    if (this.#parked.size > 0) this.#listen()
  }

  /**
   * Forgets requests whose answers were taken, as soon as they are: what lives until the next request is garbage that takes long to collect.
   * Those that wait, or have a slot, are still to be told that their client has gone.
   */
  forgetTaken (): void {
    for (let [head] = this.#exchanges; head?.isOver === true && head.state === 'free'; [head] = this.#exchanges) this.#exchanges.shift()
  }
}

const kExchange = Symbol('fastify-rest-models.exchange')

interface Marked extends ServerResponse {
  [kExchange]?: Exchange
}

/** A queue in which requests wait, or whose slots they have. */
interface ExchangeQueue {
  /** Takes note that a client has gone, or has all of an answer. */
  clientGone (exchange: Exchange): void
}

/**
 * A request and its answer, until the client has taken the answer. What is known of it stands in its own fields: a Map or
 * a WeakSet with an entry for each request costs a tenth of a short request in garbage collection.
 */
export class Exchange {
  readonly answer: ServerResponse
  /** The connection of HTTP/1. */
  readonly connection: Connection | undefined
  /** The queue in which it waits, or of whose slots it has one. */
  queue: ExchangeQueue | undefined
  /** With `handled` it keeps its slot until its handler is done, also if the client goes. */
  state: 'free' | 'waiting' | 'running' | 'handled' = 'free'
  /** The moment at which it began to wait. */
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

  /** True if nobody will take any more of the answer. */
  get isOver (): boolean {
    return this.answer.writableFinished || this.answer.destroyed
  }
}

export function exchangeOf (answer: ServerResponse): Exchange | undefined {
  const marked: Marked = answer
  return marked[kExchange]
}

/** One listener for all answers: a closure for each costs ten times as much. Behind other answers of a connection that ends, Node tells of no close. */
function end (this: ServerResponse): void {
  const exchange = exchangeOf(this)
  // What a hook answers does not come to the handler, which would give the slot back.
  exchange?.queue?.clientGone(exchange)
  exchange?.connection?.forgetTaken()
}
