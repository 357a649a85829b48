import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { maxWaitMs } from '../../engines/semaphore.js'
import { errors, unavailable } from '../../errors.js'
import { Events } from '../../events/events.js'
import type { QueueMessage } from '../../events/messages.js'
import type { Connections } from './connections.js'
import { inOwnContext } from './own-context.js'

/** Requests of all clients that may wait in one queue. A further one is refused with 503 at once. */
const maxWaiting = 2000

/**
 * Milliseconds between two tries to let waiting requests go on. No event tells that memory is free again, or that a
 * request has waited too long.
 */
const checkIntervalMs = 100

/** A request that waits in the queue. */
interface Waiting {
  /** HTTP answer to the request. If it closes, the client has gone. */
  readonly answer: ServerResponse
  /** Milliseconds of `performance.now()` when the request began to wait. */
  readonly since: number
  /** Lets the request go on. With a failure, the request is answered with that error instead. */
  readonly resume: (failure?: Error) => void
}

/** Functions that make the error of a request that has waited, by the outcome; an admitted request gets no error. */
const failures: Partial<Record<QueueMessage['outcome'], () => Error>> = {
  late: () => unavailable(), gone: () => new errors.ClientGone()
}

/** Name of a queue in events, and the source of these events. */
export interface QueueEvents {
  readonly name: QueueMessage['queue']
  readonly source: Events
}

const unnoticed: QueueEvents = { name: 'open', source: new Events() }

/**
 * Limits how many requests run and wait. A request is refused with 503 if 2000 others wait already, or after it has
 * waited for 2 seconds (load shedding).
 */
export abstract class RequestQueue {
  protected readonly connections: Connections
  /** Waiting requests in the order of their arrival. */
  readonly #waiting = new Set<Waiting>()
  readonly #events: QueueEvents
  #timer: NodeJS.Timeout | undefined

  /** @param events  get an event for each request that waited in the queue, or that the queue refused */
  constructor (connections: Connections, events: QueueEvents = unnoticed) {
    this.connections = connections
    this.#events = events
  }

  /**
   * Calls `resume` once: without an error when the request may run, in the order of arrival; with
   * REST_MODELS_UNAVAILABLE (503) if the queue is full or the request has waited for over 2 s; with
   * REST_MODELS_CLIENT_GONE (499) if its client has gone. Publishes a `queue` event if the request has waited, or if
   * the queue is full.
   */
  readonly enter = (
    { raw: { socket } }: Pick<FastifyRequest, 'raw'>, { raw: answer }: Pick<FastifyReply, 'raw'>,
    resume: HookHandlerDoneFunction
  ): void => {
    // The client may have gone during a hook of the host. No `close` event follows then, so the place of the request
    // would never be given back.
    if (socket.destroyed || answer.destroyed) return resume(new errors.ClientGone())
    const now = performance.now()
    if (this.#waiting.size === 0 && this.#admits(answer, now)) return resume()
    if (this.#waiting.size >= maxWaiting) {
      this.#publish('full', now)
      return resume(unavailable())
    }
    this.#wait(answer, resume)
  }

  /**
   * Reserves what a request needs to run: a slot, or time in this event-loop turn. Returns true if the request may go
   * on; false if there is no slot or time now.
   */
  protected abstract take (answer: ServerResponse, now: number): boolean

  /** Tries to let requests go on. Called when a request begins to wait, and every 100 ms while any waits. */
  protected abstract wake (): void

  protected get size (): number {
    return this.#waiting.size
  }

  /**
   * Lets the first waiting request go on, or refuses it if it has waited for over 2 s or its client has gone.
   * Returns true if that request left the queue; false if none is waiting or the first one must wait longer.
   */
  protected admitNext (): boolean {
    const [first] = this.#waiting
    if (first === undefined) return false
    const now = performance.now()
    const isGone = first.answer.req.socket.destroyed
    if (isGone || now - first.since > maxWaitMs) this.#leave(first, isGone ? 'gone' : 'late')
    else if (!this.#admits(first.answer, now)) return false
    else this.#leave(first, 'admitted')
    return true
  }

  #admits (answer: ServerResponse, now: number): boolean {
    return this.connections.unread.hasRoom(now) && this.take(answer, now)
  }

  #wait (answer: ServerResponse, resume: HookHandlerDoneFunction): void {
    const waiting: Waiting = { answer, since: performance.now(), resume: inOwnContext(resume) }
    answer.once('close', () => { this.#leave(waiting, 'gone') })
    this.#waiting.add(waiting)
    if (this.#waiting.size === 1) this.#timer = setInterval(() => { this.wake() }, checkIntervalMs)
    this.wake()
  }

  /**
   * Removes a request from the queue and publishes the outcome. Lets the request go on if the outcome is `admitted`,
   * and otherwise refuses it. Does nothing if the request no longer waits.
   */
  #leave (waiting: Waiting, outcome: QueueMessage['outcome']): void {
    if (!this.#waiting.delete(waiting)) return
    if (this.#waiting.size === 0) clearInterval(this.#timer)
    this.#publish(outcome, waiting.since)
    waiting.resume(failures[outcome]?.())
  }

  #publish (outcome: QueueMessage['outcome'], since: number): void {
    const { name, source } = this.#events
    if (outcome === 'admitted' && !source.hasSubscribers('queue')) return
    const duration = performance.now() - since
    source.publish('queue', { queue: name, outcome, duration, waiting: this.#waiting.size })
  }
}
