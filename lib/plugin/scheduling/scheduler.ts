import type { Server } from 'node:net'
import type {
  FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler, preHandlerHookHandler
} from 'fastify'
import { unavailable } from '../../errors.js'
import { Events } from '../../events/events.js'
import { reads, type Operation } from '../../policy/operations.js'
import { maxLogins } from '../../policy/passwords.js'
import type { Protection } from '../../policy/protection.js'
import { Connections } from './connections.js'
import type { RequestQueue } from './request-queue.js'
import { ResponseBatcher } from './response-batcher.js'
import { SlotQueue } from './slot-queue.js'
import { TurnQueue } from './turn-queue.js'

/**
 * Requests of one queue that may use a database server at a time, over all clients; further ones wait in the queue.
 * They are several for each database connection, so that none is idle.
 */
const maxRunning = 64

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** The hooks and the handler that scheduling gives to a route. */
export interface Schedule {
  /** Hooks in which a request waits for its turn or for a slot. They come before the policy. */
  readonly preHandler: readonly preHandlerHookHandler[]
  readonly onSend: readonly onSendHookHandler[]
  /**
   * Returns a handler that calls `handle`, holds the request's slot until `handle` has settled, and may send its answer
   * together with others.
   */
  wrap (handle: Handle): Handle
}

/**
 * Queues of reads and of writes, for operations that are open to anybody and for those that need a user. A request
 * waits only for requests of its own queue. For an engine in this process, reads and writes share one queue.
 */
type Queues = Readonly<Record<Exclude<Protection, 'closed'>, Readonly<Record<'reads' | 'writes', RequestQueue>>>>

/** Decides when the requests of an app are served, and when their answers leave. */
export class Scheduler {
  /** Limits the requests and the unread answers of connections. Runs before the plugin's other hooks. */
  readonly onRequest: onRequestHookHandler
  readonly #queues: Queues
  readonly #batcher = new ResponseBatcher()

  /** @param isEmbedded  true if the database works in this process */
  constructor (server: Server, isEmbedded: boolean, events: Events = new Events()) {
    const connections = new Connections(server, events)
    this.onRequest = connections.onRequest
    this.#queues = isEmbedded ? openTurnQueues(connections) : openSlotQueues(connections)
  }

  /**
   * Returns the schedule of an operation. Requests of a closed operation, which nobody may do, enter no queue, because
   * refusing them costs next to nothing.
   */
  scheduleOf (operation: Operation, protection: Protection): Schedule {
    const queue = this.#queueOf(operation, protection)
    return {
      preHandler: queue === undefined ? [] : [(request, reply, done) => { queue.enter(request, reply, done) }],
      onSend: queue instanceof SlotQueue ? [releasing(queue)] : [],
      wrap: (handle) => this.#batching(queue instanceof SlotQueue ? keepingSlot(queue, handle) : handle)
    }
  }

  /** Returns a handler that holds its answer back until the batcher lets the answer be sent. */
  #batching (handle: Handle): Handle {
    return async (request, reply) => {
      const answer = await handle(request, reply)
      const flushed = this.#batcher.wait()
      if (flushed !== undefined) await flushed
      return answer
    }
  }

  #queueOf (operation: Operation, protection: Protection): RequestQueue | undefined {
    return protection === 'closed'
      ? undefined
      : this.#queues[protection][reads.includes(operation) ? 'reads' : 'writes']
  }
}

function openTurnQueues (connections: Connections): Queues {
  const open = new TurnQueue(connections, 'open')
  const guarded = new TurnQueue(connections, 'guarded')
  return { open: { reads: open, writes: open }, guarded: { reads: guarded, writes: guarded } }
}

function openSlotQueues (connections: Connections): Queues {
  // Requests that wait for a password hold a slot, but do not use the server.
  const guardedSlots = maxRunning + maxLogins
  // Writes have their own slots, because they may wait for each other's locks, or for a standby, and reads may be slow.
  const twoOf = (slots: number, name: 'open' | 'guarded') => ({
    reads: new SlotQueue(connections, slots, `${name}-reads`),
    writes: new SlotQueue(connections, slots, `${name}-writes`)
  })
  return { open: twoOf(maxRunning, 'open'), guarded: twoOf(guardedSlots, 'guarded') }
}

/**
 * Returns an onSend hook that gives back the slot of a request that another hook answers, before the answer is sent. A
 * client that never reads the answer would otherwise keep the slot.
 */
function releasing (queue: SlotQueue): onSendHookHandler {
  return (_request, reply, payload, done) => {
    queue.release(reply.raw)
    done(null, payload)
  }
}

/**
 * Returns a handler that gives back the request's slot when `handle` has settled. If the client went during a hook, the
 * handler throws REST_MODELS_UNAVAILABLE (503) and does not call `handle`.
 */
export function keepingSlot (queue: SlotQueue, handle: Handle): Handle {
  return async (request, reply) => {
    if (!queue.begin(reply.raw)) throw unavailable()
    try {
      return await handle(request, reply)
    } finally {
      queue.leave(reply.raw)
    }
  }
}
