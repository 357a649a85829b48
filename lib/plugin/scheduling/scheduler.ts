import type { Server } from 'node:net'
import type {
  FastifyReply, FastifyRequest, onRequestHookHandler, onSendHookHandler, preHandlerHookHandler
} from 'fastify'
import { errors } from '../../errors.js'
import { reads, type Operation } from '../../policy/operations.js'
import { maxLogins } from '../../policy/passwords.js'
import type { Protection } from '../../policy/protection.js'
import { Connections } from './connections.js'
import type { RequestQueue } from './request-queue.js'
import { ResponseBatcher } from './response-batcher.js'
import { SlotQueue } from './slot-queue.js'
import { TurnQueue } from './turn-queue.js'

/** Most requests that use a database server at a time: several for each connection, so that none is idle. */
const maxRunning = 64

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** The hooks and the handler that scheduling gives to a route. */
export interface Schedule {
  /** Hooks in which a request waits for its turn or for a slot. They come before the policy. */
  readonly preHandler: readonly preHandlerHookHandler[]
  readonly onSend: readonly onSendHookHandler[]
  /** Returns a handler that keeps its slot until it is done, and whose answers leave in batches. */
  wrap (handle: Handle): Handle
}

/** Queues of requests that may be expensive. Requests in two queues do not wait for each other. */
type Queues = Readonly<Record<'open' | 'guardedReads' | 'guardedWrites', RequestQueue>>

/** Decides when the requests of an app are served, and when their answers leave. */
export class Scheduler {
  /** Counts the requests and the unread answers of each connection. */
  readonly onRequest: onRequestHookHandler
  readonly #queues: Queues
  readonly #batcher = new ResponseBatcher()

  /** @param isEmbedded  true if the database works in this process */
  constructor (server: Server, isEmbedded: boolean) {
    const connections = new Connections(server)
    this.onRequest = connections.onRequest
    this.#queues = isEmbedded ? openTurnQueues(connections) : openSlotQueues(connections)
  }

  /** Returns the schedule of an operation. A closed operation has no queue, because it costs nothing. */
  scheduleOf (operation: Operation, protection: Protection): Schedule {
    const queue = this.#queueOf(operation, protection)
    return {
      preHandler: queue === undefined ? [] : [(request, reply, done) => { queue.enter(request, reply, done) }],
      onSend: queue instanceof SlotQueue ? [releasing(queue)] : [],
      wrap: (handle) => this.#batching(queue instanceof SlotQueue ? keepingSlot(queue, handle) : handle)
    }
  }

  /** Returns a handler whose answers leave in batches. */
  #batching (handle: Handle): Handle {
    return async (request, reply) => {
      const answer = await handle(request, reply)
      const flushed = this.#batcher.wait()
      if (flushed !== undefined) await flushed
      return answer
    }
  }

  #queueOf (operation: Operation, protection: Protection): RequestQueue | undefined {
    const { open, guardedReads, guardedWrites } = this.#queues
    if (protection === 'open') return open
    if (protection === 'closed') return undefined
    return reads.includes(operation) ? guardedReads : guardedWrites
  }
}

function openTurnQueues (connections: Connections): Queues {
  const guarded = new TurnQueue(connections)
  return { open: new TurnQueue(connections), guardedReads: guarded, guardedWrites: guarded }
}

function openSlotQueues (connections: Connections): Queues {
  // Requests that wait for a password hold a slot, but do not use the server.
  const guardedSlots = maxRunning + maxLogins
  // Writes have their own slots, because they may wait for each other's locks, or for a standby.
  return {
    open: new SlotQueue(connections, maxRunning),
    guardedReads: new SlotQueue(connections, guardedSlots),
    guardedWrites: new SlotQueue(connections, guardedSlots)
  }
}

/** Returns the hook that gives back the slot of a request that another hook answers. Its client may never read that. */
function releasing (queue: SlotQueue): onSendHookHandler {
  return (_request, reply, payload, done) => {
    queue.release(reply.raw)
    done(null, payload)
  }
}

/** Returns a handler that keeps its slot until it is done. It does not begin if the client went during a hook. */
export function keepingSlot (queue: SlotQueue, handle: Handle): Handle {
  return async (request, reply) => {
    if (!queue.begin(reply.raw)) throw new errors.Unavailable()
    try {
      return await handle(request, reply)
    } finally {
      queue.leave(reply.raw)
    }
  }
}
