import type { CompiledQuery, PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { rollbackText, type ArrayRows, type Row } from '../executor.js'
import { lostCode, noAnswerCode, notSent, markDriverFailure } from '../statement-failure.js'
import { noAnswer } from '../server/ask-alone.js'
import { ConnectionUse } from '../server/connection-use.js'
import { Deadline } from '../server/deadline.js'
import type { Lease } from '../server/node-connections.js'
import type { Answer, PooledConnection } from '../server/pooled-executor.js'
import type { PreparedStatements } from '../server/prepared-statements.js'
import { connectTimeoutMs, type ServerOptions } from '../server/server-options.js'
import { driver, type Callback, type DriverClient, type DriverQuery } from './driver.js'
import { codesOf } from './failures.js'
import { describeOnce, PreparedQuery } from './prepared-query.js'

export interface ConnectionSetting {
  /** Milliseconds after which a statement without an answer fails; its connection is not used again. */
  readonly timeout: number
  /** Statements that the connections have prepared; undefined if nothing is to be prepared. */
  readonly prepared: PreparedStatements<DriverClient> | undefined
  /**
   * Called if the node reports that it cannot serve, for example because it accepts no writes or shuts down. Also
   * called if the connection breaks or gives no answer in time. `code` is the error code of the reason. The receiver
   * must make the next connection look for a usable database server.
   */
  leave (code: string): void
}

interface NodeState {
  readonly standby: boolean
  readonly isReadOnly: boolean
  /** Id of the server process that answers. */
  readonly pid: number
  /**
   * True if the node writes dates, numbers and the SQL of defaults as the plugin reads them, and reads texts as the
   * plugin writes them.
   */
  readonly isReadable: boolean
}

const stateQuery = `select pg_is_in_recovery() as standby, pg_backend_pid() as pid,
  current_setting('transaction_read_only') = 'on' as "isReadOnly",
  current_setting('DateStyle') like 'ISO%' and current_setting('extra_float_digits')::integer >= 1
    and current_setting('standard_conforming_strings') = 'on'
    and current_setting('quote_all_identifiers') = 'off' as "isReadable"`
const makeReadable = `select set_config('DateStyle', 'ISO', false), set_config('extra_float_digits', '1', false),
  set_config('standard_conforming_strings', 'on', false), set_config('quote_all_identifiers', 'off', false)`

/** SQLSTATEs of a node that is unfit for the next statement, too: it only reads, is shutting down or starting. */
const unfitNodeCodes = new Set(['25006', '57P01', '57P02', '57P03'])
/**
 * SQLSTATEs of a stale prepared statement: it no longer fits its table, or a pooler lost it or gave it to another
 * client. The connection is then closed, but its node stays in use. `0A000` has other causes, too, so it counts only
 * with the name of the server's function that failed.
 */
const staleStatementCodes = new Set(['0A000 RevalidateCachedQuery', '26000', '42P05'])

/** Connections on which the driver has reported an error. It would refuse every further statement, so none is sent. */
const broken = new WeakSet<DriverClient>()
/**
 * Connections with a commit that no standby has confirmed, although the server will answer that it is done. The plugin
 * makes this commit fail with SQLSTATE 40003: its outcome is unknown.
 */
const unconfirmed = new WeakSet<DriverClient>()

/**
 * Adds a new connection to {@link broken} when it breaks. Adds it to {@link unconfirmed} when the server stops waiting
 * for a standby, because an administrator cancelled a commit. The server then answers as if the commit were safe, and
 * tells the truth only in a notice.
 */
export function watchConnection (client: DriverClient): void {
  // Without a listener the process ends when a connection in use dies.
  client.on('error', () => { broken.add(client) })
  client.on('notice', ({ routine }) => { if (routine === 'SyncRepWaitForLSN') unconfirmed.add(client) })
}

/**
 * Pooled connection. It is closed instead of being used again if it broke, an answer is overdue, a rollback failed, a
 * prepared statement is stale, or its node turned out to be unfit.
 */
export class PostgresConnection implements PostgresPoolClient, PooledConnection {
  readonly #client: DriverClient
  readonly #use: ConnectionUse
  readonly #setting: ConnectionSetting

  constructor (lease: Lease<DriverClient>, setting: ConnectionSetting) {
    this.#client = lease.raw
    this.#use = new ConnectionUse(lease, (mustClose) => { this.#client.release(mustClose) })
    this.#setting = setting
  }

  query<R> (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R> (cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R> (
    wanted: string | PostgresCursor<R>, values: readonly unknown[] = []
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof wanted !== 'string') return this.#client.query(wanted)
    return this.#run<R>(wanted, values)
  }

  askObjects ({ sql, parameters }: CompiledQuery): Promise<Answer<Row>> {
    return this.#run<Row>(sql, parameters)
  }

  askArrays ({ sql, parameters }: CompiledQuery): Promise<Answer<ArrayRows[number]>> {
    return this.#run<ArrayRows[number]>(sql, parameters, 'array')
  }

  release (): void {
    this.#use.release()
  }

  /**
   * Checks the node of a new connection. Sets the date style to ISO, the only one that the plugin can read. Has the
   * server write all digits of floating-point numbers, and take backslashes in texts as they are.
   *
   * @throws after closing the connection: an error with SQLSTATE 25006 if the node is a standby but must be writable,
   *         with 0A000 if the connection accepts writes but must be read only; otherwise the error of the driver
   */
  async makeReady ({ writable, readonly }: Pick<Required<ServerOptions>, 'writable' | 'readonly'>): Promise<void> {
    try {
      const { rows: [node] } = await this.#query<NodeState>({ text: stateQuery }, [], connectTimeoutMs)
      if (writable && node?.standby !== false) throw isStandby()
      if (readonly && node?.isReadOnly !== true) throw notReadOnly()
      // A pooler gives connections ids of its own.
      if (node?.pid === this.#client.processID) describeOnce(this.#client)
      if (node?.isReadable !== true) await this.#query({ text: makeReadable }, [], connectTimeoutMs)
    } catch (error) {
      this.#use.closeAfterUse()
      this.#use.release()
      throw error
    }
  }

  #run<R> (text: string, values: readonly unknown[], rowMode?: 'array'): Promise<PostgresQueryResult<R>> {
    const statement = this.#setting.prepared?.statementOf(this.#client, text, values)
    if (statement === undefined) {
      return this.#query({ text, ...rowMode && { rowMode } }, [...values], this.#setting.timeout)
    }
    const query = new PreparedQuery<R>(this.#client, statement, values, rowMode)
    return this.#send(text, this.#setting.timeout, (callback) => { this.#client.query(query, callback) })
  }

  #query<R> (query: DriverQuery, values: unknown[], timeout: number): Promise<PostgresQueryResult<R>> {
    return this.#send(query.text, timeout, (callback) => { this.#client.query<R>(query, values, callback) })
  }

  /**
   * Sends a statement by `send`, and rejects if no answer comes within `timeout` milliseconds. Uses a callback, because
   * the driver's own promises keep the rows in memory until the next major garbage collection.
   */
  #send<R> (
    text: string, timeout: number, send: (callback: Callback<R>) => void
  ): Promise<PostgresQueryResult<R>> {
    return new Promise((resolve, reject) => {
      const fail = (failure: Error): void => { reject(markDriverFailure(failure)) }
      if (!this.#canSend()) return fail(notSent())
      const deadline = new Deadline(timeout, () => {
        this.#abandon()
        fail(noAnswer())
      })
      this.#use.sent()
      send((error, result) => {
        deadline.end()
        if (error !== null) {
          this.#judge(error)
          // Nobody else may get a connection whose transaction is still open.
          if (text === rollbackText) this.#use.closeAfterUse()
          fail(error)
        } else if (unconfirmed.delete(this.#client)) fail(notConfirmed())
        else resolve(result)
        this.#use.answered()
      })
    })
  }

  /**
   * True if a statement can be sent: no answer is overdue, and the connection has not broken. If it has broken, marks
   * it to be closed, and calls `leave`.
   */
  #canSend (): boolean {
    // Whatever a transaction still sends, such as its rollback, would wait behind the overdue answer.
    if (this.#use.isAbandoned) return false
    if (!broken.has(this.#client) && this.#client.connection.stream.writable) return true
    this.#use.closeAfterUse()
    this.#setting.leave(lostCode)
    return false
  }

  #abandon (): void {
    this.#use.abandon()
    this.#setting.leave(noAnswerCode)
  }

  /**
   * Marks the connection to be closed if an error means that it broke, its node is unfit, or a prepared statement is
   * stale. Calls `leave` in the first two cases. An error that the server did not send means that the connection broke.
   */
  #judge (error: unknown): void {
    const code = error instanceof driver().DatabaseError ? String(error.code) : undefined
    const isUnfit = code === undefined || unfitNodeCodes.has(code)
    if (isUnfit || codesOf(Object(error)).some((name) => staleStatementCodes.has(name))) this.#use.closeAfterUse()
    if (isUnfit) this.#setting.leave(code ?? lostCode)
  }
}

/** Returns the error for a commit that no standby has confirmed, with the SQLSTATE `statement_completion_unknown`. */
function notConfirmed (): Error {
  return Object.assign(new Error('No standby has confirmed the commit'), { code: '40003' })
}

/** Returns the error for a connection that must be read only, but accepts writes. */
function notReadOnly (): Error {
  const message = "The connection accepts writes, because a pooler in front of the server ignores 'options' of the URL"
  return Object.assign(new Error(message), { code: '0A000' })
}

/** Returns the error for a server that is a standby, although the connection must accept writes. */
export function isStandby (): Error {
  return Object.assign(new Error('The node is a standby'), { code: '25006' })
}
