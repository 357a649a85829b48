import { Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Milliseconds in which a busy client sends its next request, and learns that its connection ends. */
const drainMs = 1000

/**
 * Makes `app.close()` drain connections, so that it cuts none on which a request may have arrived. Nobody can connect any
 * more, each answer says `connection: close`, and idle connections are closed after a second. Call it before routes are
 * added, on an app with `return503OnClosing: false`.
 *
 * @param maxMs  milliseconds after which connections that are still open are cut
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
