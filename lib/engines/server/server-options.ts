import { errors } from '../../errors.js'
import { requireBoolean, requireKnown, requireWholeNumber } from '../../suggest.js'

/** Options for a database on a server. If the URL names several servers, each of them is a node. */
export interface ServerOptions {
  /**
   * Maximum number of connections of this process to a node, not counting short ones that ask for the node's state. If
   * all are in use, a statement waits for one, usually for four seconds, and then fails with 503. Default 10.
   */
  readonly connections?: number
  /**
   * Maximum number of the `connections` that lists and reads use while writes come, so that slow lists cannot stop
   * writes. If no write has come for ten seconds, lists and reads may use all connections. Default: half of
   * `connections`, or all if they are less than four.
   */
  readonly readConnections?: number
  /**
   * Milliseconds after which a statement is given up and fails with 503. With 0, the limit of the server's own settings
   * holds, and the driver gives up after 31 seconds. Default 5000.
   */
  readonly statementTimeout?: number
  /**
   * True if connections keep statements prepared that come more than once. Poolers like PgBouncer before 1.21 forbid
   * that: then set false. Default true.
   */
  readonly preparedStatements?: boolean
  /**
   * True if only nodes that accept writes are used; false if nodes that only read may be used, too. Default: true for a
   * URL of several nodes without `readonly`, otherwise false.
   */
  readonly writable?: boolean
  /**
   * True if every write is to be refused, with 503: each connection is made read-only on the server. Default false.
   */
  readonly readonly?: boolean
}

/**
 * Milliseconds after which a server that gives no connection, or no answer about its state, counts as failed. This time
 * begins when the driver's pool is asked for a connection. If reads or writes already use all connections that they may
 * take, a caller first waits up to two more seconds for one of them.
 */
export const connectTimeoutMs = 2000
/**
 * Milliseconds by which the driver gives up later than the server. The driver needs its own limit, because the server's
 * limit does not cover every wait, and a server that hangs does not apply it.
 */
const graceMs = 1000
/**
 * Milliseconds that stand for the server's limit in the driver's own limit, if `statementTimeout` is 0. With 0 we set
 * no limit in the server; it may have one of its own, which is not known here.
 */
const serverDeadlineMs = 30_000
/** Milliseconds of the longest `statementTimeout`: a timer of Node.js takes at most 2^31-1. */
const maxTimeoutMs = 2 ** 31 - 1 - graceMs

/**
 * Returns the milliseconds after which a statement without an answer fails: a second more than `statementTimeout`, or
 * 31 seconds if that is 0.
 */
export function driverTimeout (statementTimeout: number): number {
  return (statementTimeout === 0 ? serverDeadlineMs : statementTimeout) + graceMs
}

const optionNames: Readonly<Record<keyof ServerOptions, true>> = {
  connections: true,
  readConnections: true,
  statementTimeout: true,
  preparedStatements: true,
  writable: true,
  readonly: true
}

interface Given {
  readonly options: ServerOptions
  /** Number of nodes that the URL names. */
  readonly nodes: number
  /** Names of options that only this engine has. */
  readonly more?: Readonly<Record<string, true>>
}

/**
 * Checks the options, and returns them with every default filled in.
 *
 * @param where  name of the function that has the options, for the error: `openPostgres()`
 * @throws REST_MODELS_INVALID_OPTIONS, which names the option
 */
export function checkServerOptions (where: string, { options, nodes, more }: Given): Required<ServerOptions> {
  requireKnown<ServerOptions>(where, options, { ...optionNames, ...more })
  const { connections = 10, statementTimeout = 5000, preparedStatements = true, readonly = false } = options
  const { writable = nodes > 1 && !readonly } = options
  requireWholeNumber(`'connections' of ${where}`, connections, 1)
  const { readConnections = shareOfReads(connections) } = options
  requireWholeNumber(`'readConnections' of ${where}`, readConnections, 1)
  if (readConnections > connections) {
    throw new errors.InvalidOptions(`'readConnections' of ${where} must be at most 'connections', ${connections}`)
  }
  requireWholeNumber(`'statementTimeout' of ${where}`, statementTimeout, 0)
  if (statementTimeout > maxTimeoutMs) {
    throw new errors.InvalidOptions(`'statementTimeout' of ${where} must be at most ${maxTimeoutMs}`)
  }
  for (const [name, value] of Object.entries({ preparedStatements, writable, readonly })) {
    requireBoolean(`'${name}' of ${where}`, value)
  }
  return { connections, readConnections, statementTimeout, preparedStatements, writable, readonly }
}

/**
 * Returns the default of `readConnections`: half of the connections. Of fewer than four it is all, because half would
 * make lists slow whenever somebody writes.
 */
function shareOfReads (connections: number): number {
  return connections < 4 ? connections : Math.floor(connections / 2)
}
