import { LogController, type FastifyReply, type FastifyRequest, type FastifyServerOptions } from 'fastify'

const { LOG_LEVEL = 'info' } = process.env

/** Returns the path of a URL. Clients of proxies send `http://user:password@host/path`, and a query may follow a `#`. */
const pathOf = (url: string): string => url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*/s, '')

/** Logs one line for each request, without credentials, bodies and query values, and the cause of each failure. */
class OneLine extends LogController {
  override incomingRequest (): void {}

  override routeNotFound (): void {}

  override requestCompleted (_error: unknown, { method, url }: FastifyRequest, { log, statusCode, elapsedTime }: FastifyReply): void {
    log.info({ method, path: pathOf(url), status: statusCode, ms: Math.round(elapsedTime) })
  }

  override defaultErrorLog (error: Error, request: FastifyRequest, reply: FastifyReply): void {
    if (reply.statusCode >= 500) request.log.error({ err: error })
  }
}

export const logging: FastifyServerOptions = {
  logger: { level: LOG_LEVEL, serializers: { req: ({ method, url }) => ({ method, path: pathOf(url) }) } },
  logController: new OneLine()
}
