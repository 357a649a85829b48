import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { logging } from './logging.js'

/** Options of a server that clients reach without a proxy in front. */
export const serverOptions: FastifyServerOptions = {
  ...logging,
  // Requests on open connections are also served while the app closes.
  return503OnClosing: false,
  // The server itself must give up on slow senders.
  requestTimeout: 30_000,
  connectionTimeout: 60_000
}

/**
 * Listens on PORT and HOST, or on 127.0.0.1:3000 if these are absent or empty. Closes the app on SIGTERM and SIGINT.
 * Returns the address.
 */
export async function serve (app: FastifyInstance): Promise<string> {
  const { PORT, HOST } = process.env
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, async () => {
      app.log.info(`${signal}: finishing running requests`)
      await app.close()
    })
  }
  return await app.listen({ port: Number(PORT || 3000), host: HOST || '127.0.0.1' })
}
