import type { FastifyServerOptions } from 'fastify'

/**
 * The part of an error that the log shows: its class, its code, the first five lines of the stack (`at`) and its cause.
 * A thrown value that is no Error is shown by its JavaScript type alone. Messages are left out: they may hold values.
 */
interface LoggedError {
  readonly type: string
  readonly code?: string
  readonly at?: readonly string[]
  readonly cause?: LoggedError
}

/**
 * Returns the settings of a logger that logs only faults of the server. Each line is JSON, and holds no values of
 * records or queries.
 *
 * @param write  receives each line with its line break, and must write it to where the log is kept
 */
export function errorLog (write: (line: string) => void): NonNullable<FastifyServerOptions['logger']> {
  return {
    level: 'error',
    stream: { write },
    serializers: {
      req: ({ method, routeOptions }) => ({ method, route: routeOptions?.url }),
      err: toldError as never
    }
  }
}

function toldError (error: unknown): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error }
  const { cause } = error
  const lines = String(error.stack).replace(error.message, '').split('\n').map((line) => line.trim())
  return {
    type: error.constructor.name,
    ...('code' in error && error.code !== undefined && { code: String(error.code) }),
    at: lines.filter((line) => line.startsWith('at ')).slice(0, 5),
    ...(cause !== undefined && { cause: toldError(cause) })
  }
}
