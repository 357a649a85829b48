import type { FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify'

const pathOf = (url: string): string => url.split('?', 1)[0] ?? ''

/** One line for each request: no credentials, no bodies, no query values. */
export const logging: FastifyServerOptions = {
  disableRequestLogging: true,
  logger: { serializers: { req: ({ method, url }) => ({ method, path: pathOf(url) }) } }
}

export async function logRequest ({ method, url, log }: FastifyRequest, { statusCode, elapsedTime }: FastifyReply): Promise<void> {
  log.info({ method, path: pathOf(url), status: statusCode, ms: Math.round(elapsedTime) })
}
