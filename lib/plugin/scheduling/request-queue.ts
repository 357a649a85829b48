import { AsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { errors, withRetryAfter } from '../../errors.js'
import type { Connections } from './connections.js'
import { exchangeOf, type Exchange } from './exchange.js'

/** Milliseconds after which a waiting request is refused. A statement waits as long for a connection. */
const maxWaitMs = 2000

/** Most waiting requests; further ones are refused at once. */
const maxWaiting = 2000

/** Milliseconds between two checks of requests that wait for memory, or for others that take long. */
const checkIntervalMs = 100

/** Limits how many requests run and wait. A request that would wait for too long is refused (load shedding). */
export abstract class RequestQueue {
  /** True if a request holds a slot until {@link leave}. */
  abstract readonly hasSlots: boolean
  protected readonly connections: Connections
  /** Waiting requests in the order of their arrival. */
  readonly #waiting = new Set<Exchange>()
  #timer: NodeJS.Timeout | undefined

  constructor (connections: Connections) {
    this.connections = connections
  }

  /** Calls `goOn` at once or later, in the order of the calls, or with REST_MODELS_UNAVAILABLE (503). */
  enter (
    { raw: { socket } }: Pick<FastifyRequest, 'raw'>, { raw: answer }: Pick<FastifyReply, 'raw'>,
    goOn: HookHandlerDoneFunction
  ): void {
    const exchange = exchangeOf(answer)
    // The client may have gone during a hook of the host. No event follows, so its place would never be given back.
    if (exchange === undefined || socket.destroyed || answer.destroyed) return goOn(unavailable())
    exchange.queue = this
    const mayServe = exchange.connection?.mayServe(exchange) !== false
    if (mayServe && this.#waiting.size === 0 && this.#admits(exchange, performance.now())) return goOn()
    // Without a resource of its own it would go on in the AsyncLocalStorage context of another request.
    // AsyncResource.bind() costs a hundred times as much.
    const own = new AsyncResource('RestModelsRequest')
    exchange.goOn = (failure) => { own.runInAsyncScope(goOn, undefined, failure) }
    const wait = (): void => { this.#wait(exchange, socket) }
    if (mayServe) wait()
    else exchange.connection?.park(exchange, wait)
  }

  /** Notes that a handler begins, which will call {@link leave}. False if its client has gone, and the slot with it. */
  begin (_answer: ServerResponse): boolean {
    return true
  }

  /** Notes that the database is done with a request. */
  leave (_answer: ServerResponse): void {}

  /** Gives back the slot of a request that a hook answers: its client may take as long as it likes to read that. */
  answers (answer: ServerResponse): void {
    const exchange = exchangeOf(answer)
    if (exchange !== undefined) this.clientGone(exchange)
  }

  /** Takes a request out of the queue if its client has gone, or gives back its slot if no handler works on it. */
  clientGone (exchange: Exchange): void {
    if (exchange.state === 'waiting') this.#refuse(exchange)
    else if (exchange.state === 'running') this.leave(exchange.answer)
  }

  /** Takes the slot or the time that a request needs. False if there is none now. */
  protected abstract take (exchange: Exchange, now: number): boolean

  /** Tries to let requests go on. It is called when one begins to wait, and every 100 ms while any of them waits. */
  protected abstract wake (): void

  protected get size (): number {
    return this.#waiting.size
  }

  /** Lets the first waiting request go on, or refuses it if it has waited too long. True if it left the queue. */
  protected letGoOn (): boolean {
    const [first] = this.#waiting
    if (first === undefined) return false
    const now = performance.now()
    const isGone = first.answer.req.socket.destroyed
    if (isGone || now - first.waitsSince > maxWaitMs) this.#refuse(first)
    else if (!this.#admits(first, now)) return false
    else this.#remove(first).goOn?.()
    return true
  }

  #admits (exchange: Exchange, now: number): boolean {
    return this.connections.unread.hasRoom(now) && this.take(exchange, now)
  }

  #wait (exchange: Exchange, socket: Socket): void {
    if (this.#waiting.size >= maxWaiting || socket.destroyed) return exchange.goOn?.(unavailable())
    exchange.state = 'waiting'
    exchange.waitsSince = performance.now()
    this.#waiting.add(exchange)
    if (this.#waiting.size === 1) this.#timer = setInterval(() => { this.wake() }, checkIntervalMs)
    this.wake()
  }

  #refuse (exchange: Exchange): void {
    exchange.state = 'free'
    this.#remove(exchange).goOn?.(unavailable())
  }

  #remove (exchange: Exchange): Exchange {
    this.#waiting.delete(exchange)
    if (this.#waiting.size === 0) clearInterval(this.#timer)
    return exchange
  }
}

function unavailable (): Error {
  return withRetryAfter(new errors.Unavailable(), 1)
}
