import { errors } from '../../errors.js'
import { requireKnown } from '../../suggest.js'

/** How a database on a server is connected to. */
export interface ServerOptions {
  /** Connections to a node at most. Default 10. */
  readonly connections?: number
  /** Milliseconds after which a statement is given up; 0 leaves that to the server, for half a minute. Default 5000. */
  readonly statementTimeout?: number
  /** Whether a statement is prepared once for each connection; a pooler such as PgBouncer before 1.21 forbids it. Default true. */
  readonly preparedStatements?: boolean
  /** Whether only a node that accepts writes will do. Default: whether the URL names several nodes. */
  readonly writable?: boolean
  /** Whether the server is told to refuse every write. Default false. */
  readonly readonly?: boolean
}

/** Milliseconds after which a node that does not answer is taken for dead. */
export const connectTimeout = 2000
/** The server's own deadline does not cover every wait, and a server that hangs keeps none: so much later the driver gives up. */
const grace = 1000
/** Milliseconds that a server is given which keeps a deadline that is not known here. */
const patience = 30_000
const maxTimeout = 2 ** 31 - 1 - grace

/** Milliseconds after which the driver gives a statement up. */
export function driverTimeout (statementTimeout: number): number {
  return (statementTimeout === 0 ? patience : statementTimeout) + grace
}

const optionNames: ReadonlyArray<keyof ServerOptions> = ['connections', 'statementTimeout', 'preparedStatements', 'writable', 'readonly']

interface Given {
  readonly options: ServerOptions
  /** How many nodes the URL names. */
  readonly nodes: number
  /** Names of options that only this engine has. */
  readonly more?: readonly string[]
}

/**
 * Options with every default filled in.
 *
 * @throws REST_MODELS_INVALID_OPTIONS naming the option
 */
export function checkServerOptions (where: string, { options, nodes, more = [] }: Given): Required<ServerOptions> {
  requireKnown(where, options, [...optionNames, ...more])
  const { connections = 10, statementTimeout = 5000, preparedStatements = true, readonly = false } = options
  const { writable = nodes > 1 && !readonly } = options
  requireCount(where, { connections }, 1)
  requireCount(where, { statementTimeout }, 0)
  if (statementTimeout > maxTimeout) throw new errors.InvalidOptions(`'statementTimeout' of ${where} must be at most ${maxTimeout}`)
  for (const [name, value] of Object.entries({ preparedStatements, writable, readonly })) {
    if (typeof value !== 'boolean') throw new errors.InvalidOptions(`'${name}' of ${where} is true or false`)
  }
  return { connections, statementTimeout, preparedStatements, writable, readonly }
}

/** An option of one engine alone. */
export interface MaxLag {
  /** Milliseconds that a standby may lag behind its primary to be read from; any if absent. */
  readonly maxLag?: number
}

/** @throws REST_MODELS_INVALID_OPTIONS if there is one, and it is no number, or where no standby would do */
export function checkMaxLag ({ maxLag }: MaxLag, { writable }: Required<ServerOptions>): MaxLag {
  if (maxLag === undefined) return {}
  const where = 'openPostgres()'
  requireCount(where, { maxLag }, 1)
  if (writable) throw new errors.InvalidOptions(`'maxLag' of ${where} is for hosts to read from: set 'writable: false'`)
  return { maxLag }
}

function requireCount (where: string, option: Readonly<Record<string, number>>, least: number): void {
  for (const [name, value] of Object.entries(option)) {
    if (!Number.isSafeInteger(value) || value < least) throw new errors.InvalidOptions(`'${name}' of ${where} must be a whole number of at least ${least}`)
  }
}
