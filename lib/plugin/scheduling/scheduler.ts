import type { Server } from 'node:net'
import type { onRequestHookHandler, onSendHookHandler, preHandlerHookHandler } from 'fastify'
import { BurstDetector } from '../../engines/event-loop-turn.js'
import { Events } from '../../events/events.js'
import { reads, type Operation } from '../../policy/operations.js'
import type { Protection } from '../../policy/protection.js'
import { isPromise } from '../../values/values.js'
import { connectionsOf } from './connections.js'
import { openSlotQueues, openTurnQueues, type Queues } from './queues.js'
import type { RequestQueue } from './request-queue.js'
import { keepingSlot, releasing, SlotQueue, type RouteHandler } from './slot-queue.js'

/** The hooks and the handler that scheduling gives to a route. */
export interface Schedule {
  /**
   * Hooks in which a request waits until it may run: for time in the event loop if the database works in this process,
   * otherwise for one of the slots of the database server. They come before the hooks of the policy. Empty for an
   * operation that nobody may do.
   */
  readonly preHandler: readonly preHandlerHookHandler[]
  readonly onSend: readonly onSendHookHandler[]
  /**
   * Returns a handler that calls `handle`, and may hold the answer back until the event-loop turn ends, to send it
   * together with others. If the request occupies a slot of a database server, the handler frees it when `handle` has
   * settled.
   */
  wrap (handle: RouteHandler): RouteHandler
}

/** Decides when the requests of an app are served, and when their answers leave. */
export class Scheduler {
  /** Limits the requests and the unread answers of connections. Runs before the hooks of the plugin's routes. */
  readonly onRequest: onRequestHookHandler
  readonly #queues: Queues
  readonly #batcher = new ResponseBatcher()

  /** @param isEmbedded  true if the database works in this process */
  constructor (server: Server, isEmbedded: boolean, events: Events = new Events()) {
    const connections = connectionsOf(server)
    this.onRequest = connections.onRequest
    this.#queues = (isEmbedded ? openTurnQueues : openSlotQueues)(connections, events)
  }

  /**
   * Returns the schedule of an operation. Requests of a closed operation, which nobody may do, enter no queue, because
   * they are refused without the database.
   */
  scheduleOf (operation: Operation, protection: Protection): Schedule {
    const queue = this.#queueOf(operation, protection)
    return {
      preHandler: queue === undefined ? [] : [queue.enter],
      onSend: queue instanceof SlotQueue ? [releasing(queue)] : [],
      wrap: (handle) => this.#batching(queue instanceof SlotQueue ? keepingSlot(queue, handle) : handle)
    }
  }

  /** Returns a handler that holds its answer back until the batcher lets the answer be sent. */
  #batching (handle: RouteHandler): RouteHandler {
    return (request, reply) => {
      const answer = handle(request, reply)
      if (isPromise(answer)) return this.#held(answer)
      const flushed = this.#batcher.wait()
      if (flushed !== undefined) return flushed.then(() => answer)
      // Fastify takes `undefined` for an answer that is sent later, but not a promise of it.
      return answer === undefined ? Promise.resolve() : answer
    }
  }

  async #held (answer: Promise<unknown>): Promise<unknown> {
    const ready = await answer
    const flushed = this.#batcher.wait()
    if (flushed !== undefined) await flushed
    return ready
  }

  #queueOf (operation: Operation, protection: Protection): RequestQueue | undefined {
    return protection === 'closed'
      ? undefined
      : this.#queues[protection][reads.includes(operation) ? 'reads' : 'writes']
  }
}

/**
 * Number of answers in one event-loop turn that make a burst. After a burst, the answers of the next turn that has any
 * are held until that turn ends, and sent together. After fewer answers, each is sent at once, because there would
 * hardly be others to wait for.
 */
const minBatchSize = 4

/**
 * Milliseconds for which answers are held. After that, the next answer that becomes ready releases all of them, before
 * the event-loop turn ends.
 */
const maxHoldMs = 2

/**
 * Lets answers that become ready in one event-loop turn be sent together (flush consolidation). Each answer that is
 * sent alone wakes its receiver. If that is a client or a proxy on the same machine, waking it takes as much processor
 * time as serving a short list.
 */
export class ResponseBatcher {
  readonly #bursts = new BurstDetector(minBatchSize)
  #began = 0
  #flushed: Promise<void> | undefined
  #flush: (() => void) | undefined

  /**
   * Returns a promise to await before an answer is sent; undefined if the answer may be sent at once. The promise
   * resolves at the end of this event-loop turn, or with the next answer after 2 ms.
   */
  wait (): Promise<void> | undefined {
    if (!this.#bursts.join()) return undefined
    const flushed = this.#flushed ?? this.#begin()
    if (performance.now() - this.#began > maxHoldMs) this.#end()
    return flushed
  }

  #begin (): Promise<void> {
    this.#began = performance.now()
    setImmediate(this.#end)
    return (this.#flushed = new Promise((resolve) => { this.#flush = resolve }))
  }

  readonly #end = (): void => {
    this.#flushed = undefined
    this.#flush?.()
  }
}
