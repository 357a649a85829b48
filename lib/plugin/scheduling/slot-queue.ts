import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { errors } from '../../errors.js'
import type { Connections } from './connections.js'
import { RequestQueue, type QueueEvents } from './request-queue.js'

/** Handler of a route. It returns the answer, or a promise of it. */
export type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => unknown

const kSlot = Symbol('fastify-rest-models.slot')

/**
 * An answer with the state of its request's slot: it tells whether the handler has begun. The state is undefined if the
 * request has no slot.
 */
interface Slotted extends ServerResponse {
  [kSlot]?: 'before the handler' | 'in the handler' | undefined
}

/**
 * Limits how many requests use a database server at a time. Each takes a slot; without a free slot, a request waits.
 */
export class SlotQueue extends RequestQueue {
  #running = 0
  #isWaking = false
  readonly #maxRunning: number
  readonly #onClose: (this: ServerResponse) => void

  /** @param maxRunning  most requests that use the server at a time */
  constructor (connections: Connections, maxRunning: number, events?: QueueEvents) {
    super(connections, events)
    this.#maxRunning = maxRunning
    const release = (answer: ServerResponse): void => { this.release(answer) }
    // One listener serves all answers: a closure for each costs ten times as much.
    this.#onClose = function () { release(this) }
  }

  /**
   * Notes that the handler of a request begins; the caller must call {@link leave} when the handler ends. Returns false
   * if the client has gone and the slot was given back; the handler must then not begin.
   */
  begin (answer: Slotted): boolean {
    if (answer[kSlot] !== 'before the handler') return false
    answer[kSlot] = 'in the handler'
    return true
  }

  /**
   * Gives back the slot of a request, even if its handler has begun, and lets waiting requests go on. Does nothing if
   * the request has no slot.
   */
  leave (answer: Slotted): void {
    if (answer[kSlot] === undefined) return
    answer[kSlot] = undefined
    this.#running--
    this.wake()
  }

  /**
   * Gives back the slot of a request that a hook answered, or whose client has gone, like {@link leave}. Does nothing
   * if the handler of the request has begun, because the server still runs the statement.
   */
  release (answer: Slotted): void {
    if (answer[kSlot] === 'before the handler') this.leave(answer)
  }

  protected take (answer: Slotted): boolean {
    if (this.#running >= this.#maxRunning) return false
    this.#running++
    answer[kSlot] = 'before the handler'
    answer.on('close', this.#onClose)
    return true
  }

  protected wake (): void {
    // A later hook may answer at once, and so give back the slot. The loop then takes the next request: to begin
    // another loop for each would fill the stack.
    if (this.#isWaking) return
    this.#isWaking = true
    try {
      while (this.admitNext());
    } finally {
      this.#isWaking = false
    }
  }
}

/**
 * Returns an onSend hook that gives back the slot of a request that another hook answers, before the answer is sent.
 * Without this hook, a client that never reads the answer would keep the slot.
 */
export function releasing (queue: SlotQueue): onSendHookHandler {
  return (_request, reply, payload, done) => {
    queue.release(reply.raw)
    done(null, payload)
  }
}

/**
 * Returns a handler that gives back the request's slot when `handle` has settled. If the client went during a hook, the
 * handler throws REST_MODELS_CLIENT_GONE (499) and does not call `handle`.
 */
export function keepingSlot (
  queue: SlotQueue, handle: RouteHandler
): (...parameters: Parameters<RouteHandler>) => Promise<unknown> {
  return async (request, reply) => {
    if (!queue.begin(reply.raw)) throw new errors.ClientGone()
    try {
      return await handle(request, reply)
    } finally {
      queue.leave(reply.raw)
    }
  }
}
