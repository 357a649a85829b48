import { AsyncResource } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { errors, withRetryAfter } from '../errors.js'
import type { Connection } from './connection.js'
import type { Connections } from './connections.js'

/** Milliseconds after which a request that waits is refused: as long as a statement waits for a connection. */
const maxWaitMs = 2000

/** Requests that wait; further ones are refused at once. */
const maxWaiting = 2000

/** Milliseconds between two looks at requests that wait for memory, or for others that take long. */
const checkMs = 100

interface Waiting {
  readonly since: number
  readonly answer: ServerResponse
  /** Whether the client has gone. */
  readonly isGone: () => boolean
  readonly goOn: (failure?: Error) => void
  readonly connection: Connection | undefined
}

/** Bounds what is done at once, and what waits for that; who would wait for long is refused (load shedding). */
export abstract class RequestQueue {
  protected readonly connections: Connections
  /** In the order of their coming. */
  readonly #waiting = new Set<Waiting>()
  #timer: NodeJS.Timeout | undefined

  constructor (connections: Connections) {
    this.connections = connections
  }

  /** Goes on at once or later, in the order of the calls, or with REST_MODELS_UNAVAILABLE (503). */
  enter ({ raw }: Pick<FastifyRequest, 'raw'>, { raw: answer }: Pick<FastifyReply, 'raw'>, goOn: HookHandlerDoneFunction): void {
    // While a hook of the host took its time. What has ended tells so no more, and would never give back its place.
    if (raw.socket.destroyed || answer.destroyed) return goOn(unavailable())
    const connection = this.connections.of(raw)
    const mayServe = connection === undefined || connection.mayServe(answer)
    if (mayServe && this.#waiting.size === 0 && this.#admits(answer, performance.now())) return goOn()
    // Otherwise it would go on in what another request keeps in an AsyncLocalStorage. AsyncResource.bind() costs a hundred times as much.
    const own = new AsyncResource('RestModelsRequest')
    const goOnLater = (failure?: Error): void => { own.runInAsyncScope(goOn, undefined, failure) }
    const wait = (): void => { this.#wait({ since: performance.now(), answer, isGone: () => raw.socket.destroyed, goOn: goOnLater, connection }) }
    if (mayServe) wait()
    else connection.park(answer, wait)
  }

  /** Notes that a handler begins, which will call {@link leave}. */
  begin (_answer: ServerResponse): void {}

  /** Notes that the database is done with a request. */
  abstract leave (answer: ServerResponse): void

  /** Takes what a request needs, if it is there. */
  protected abstract take (answer: ServerResponse, now: number): boolean

  /** Called when a request begins to wait. */
  protected abstract wake (): void

  protected get size (): number {
    return this.#waiting.size
  }

  /** Lets the first that waits go on if it may, or refuses it if it has waited for too long; says whether it is out of the queue. */
  protected letGoOn (): boolean {
    const [first] = this.#waiting
    if (first === undefined) return false
    const now = performance.now()
    const isRefused = first.isGone() || now - first.since > maxWaitMs
    if (isRefused) this.#refuse(first)
    else if (!this.#admits(first.answer, now)) return false
    else this.#remove(first).goOn()
    return true
  }

  #admits (answer: ServerResponse, now: number): boolean {
    return this.connections.unread.hasRoom(now) && this.take(answer, now)
  }

  #wait (waiting: Waiting): void {
    if (this.#waiting.size >= maxWaiting) return waiting.goOn(unavailable())
    this.#waiting.add(waiting)
    waiting.connection?.whenClosed(waiting, () => { this.#refuse(waiting) })
    if (this.#waiting.size === 1) this.#timer = setInterval(() => { this.wake() }, checkMs)
    this.wake()
  }

  #refuse (waiting: Waiting): void {
    this.#remove(waiting).goOn(unavailable())
  }

  #remove (waiting: Waiting): Waiting {
    this.#waiting.delete(waiting)
    waiting.connection?.forget(waiting)
    if (this.#waiting.size === 0) clearInterval(this.#timer)
    return waiting
  }
}

function unavailable (): Error {
  return withRetryAfter(new errors.Unavailable(), 1)
}
