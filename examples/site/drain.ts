import { Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Milliseconds in which a client that is busy sends its next request, and is told that its connection ends. */
const drainMs = 1000

/**
 * Lets `app.close()` cut no connection on which a request may have arrived. Nobody can connect any more, each answer says
 * `connection: close`, and what is idle after a second is closed. The app has `return503OnClosing: false`, and no routes yet.
 *
 * @param maxMs  after so many milliseconds what is still open is cut
 */
export function drainOnClose (app: FastifyInstance, maxMs = 10_000): void {
  let isClosing = false
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close')
  })
  app.addHook('preClose', async () => {
    if (!app.server.listening) return
    isClosing = true
    // app.server.close() also closes connections that seem idle, although a request may have arrived on them.
    Server.prototype.close.call(app.server)
    setTimeout(() => { app.server.closeAllConnections() }, maxMs).unref()
    await wait(drainMs)
  })
}
