import type { ServerResponse } from 'node:http'

const kExchange = Symbol('fastify-rest-models.exchange')

interface Marked extends ServerResponse {
  [kExchange]?: Exchange
}

/** A queue in which requests wait, or whose slots they have. */
interface ExchangeQueue {
  /** Notes that a client has gone, or has all of an answer. */
  clientGone (exchange: Exchange): void
}

/** A connection as its requests see it. */
export interface ExchangeConnection {
  /** True if a request may be served now. */
  mayServe (exchange: Exchange): boolean
  /** Calls `goOn` when a request may be served, or its client has gone. */
  park (exchange: Exchange, goOn: () => void): void
  /** Forgets requests whose answers were taken. */
  forgetTaken (): void
}

/**
 * A request and its answer, until the client has taken the answer. Its state is in its own fields. A Map or a WeakSet
 * with an entry for each request costs a tenth of a short request in garbage collection.
 */
export class Exchange {
  readonly answer: ServerResponse
  /** The connection of HTTP/1. */
  readonly connection: ExchangeConnection | undefined
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

  constructor (answer: ServerResponse, connection: ExchangeConnection | undefined) {
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
