import type { FastifyServerOptions } from 'fastify'

/** What is said of an error: what it is and where it came from, without the messages of others, which may hold values. */
interface ToldError {
  readonly type: string
  readonly code?: string
  readonly at?: readonly string[]
  readonly cause?: ToldError
}

/**
 * The settings of a logger for what the server is to blame for alone, as JSON by line, without values of records and queries.
 *
 * @param write  takes a line
 */
export function errorLog (write: (line: string) => void): NonNullable<FastifyServerOptions['logger']> {
  return {
    level: 'error',
    stream: { write },
    serializers: {
      req: ({ method, routeOptions }) => ({ method, route: routeOptions?.url }),
      err: told as never
    }
  }
}

function told (error: unknown): ToldError {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code, cause } = error as Error & { readonly code?: unknown }
  const at = String(error.stack).replace(error.message, '').split('\n').map((line) => line.trim()).filter((line) => line.startsWith('at ')).slice(0, 5)
  return { type: error.constructor.name, ...(code !== undefined && { code: String(code) }), at, ...(cause !== undefined && { cause: told(cause) }) }
}
