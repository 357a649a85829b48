import type { onSendHookHandler, preHandlerHookHandler } from 'fastify'
import { errors } from '../errors.js'
import type { RequestQueue } from '../plugin/scheduling/request-queue.js'
import type { Handler } from './handlers.js'

type Handle = ReturnType<Handler<unknown>>

/** Returns the hook in which requests wait for their turn or a slot, if there is a queue. */
export function waitingIn (queue: RequestQueue | undefined): preHandlerHookHandler[] {
  return queue === undefined ? [] : [(request, reply, done) => { queue.enter(request, reply, done) }]
}

/** Returns the hook that gives back the slot of a request that another hook answers. Its client may never read that. */
export function leavingFor (queue: RequestQueue | undefined): onSendHookHandler[] {
  if (queue?.hasSlots !== true) return []
  return [(_request, reply, payload, done) => {
    queue.answers(reply.raw)
    done(null, payload)
  }]
}

/** Returns a handler that keeps its slot until it is done. It does not begin if the client went during a hook. */
export function keepingSlot (queue: RequestQueue | undefined, handler: Handle): Handle {
  if (queue === undefined) return handler
  return async (request, reply) => {
    if (!queue.begin(reply.raw)) throw new errors.Unavailable()
    try {
      return await handler(request, reply)
    } finally {
      queue.leave(reply.raw)
    }
  }
}
