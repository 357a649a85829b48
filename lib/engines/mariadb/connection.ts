import type { CompiledQuery, MysqlPoolConnection } from 'kysely'
import type { QueryError } from 'mysql2'
import { rollbackText, type ArrayRows, type Row } from '../executor.js'
import { toArrays } from '../rows.js'
import { lostCode, noAnswerCode, notSent, markDriverFailure } from '../statement-failure.js'
import { ConnectionUse } from '../server/connection-use.js'
import { Deadline } from '../server/deadline.js'
import type { Lease } from '../server/node-connections.js'
import type { Answer, PooledConnection } from '../server/pooled-executor.js'
import type { PreparedStatements } from '../server/prepared-statements.js'
import { connectTimeoutMs, driverTimeout, type ServerOptions } from '../server/server-options.js'
import {
  answerOf, noAnswer, unprepare, type Callback, type DriverConnection, type Executing, type Streaming
} from './driver.js'
import { requireFit, sessionSettings, stateQuery, unfitErrorsOf, type NodeState } from './node-state.js'

export interface ConnectionSetting {
  readonly options: Required<ServerOptions>
  /** Statements that the connections keep prepared; undefined if none are to be prepared. */
  readonly prepared: PreparedStatements<DriverConnection> | undefined
  /**
   * Called if the connection breaks, gives no answer in time, or its node proves to be unfit; `code` names the reason.
   * The receiver must make the next connection look for a usable database server.
   */
  leave (code: string): void
}

interface Statement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** For each connection, the error numbers of MariaDB after which its node cannot serve the next statement either. */
const unfitErrors = new WeakMap<DriverConnection, ReturnType<typeof unfitErrorsOf>>()

/**
 * Error number of MariaDB if the server already keeps as many prepared statements as it may. The statement is then sent
 * without being prepared.
 */
const tooManyPrepared = 1461

/**
 * A pooled connection. It is closed instead of being used again if it broke, an answer is overdue, a rollback failed,
 * or its node turned out to be unfit.
 */
export class MariadbConnection implements MysqlPoolConnection, PooledConnection {
  readonly #connection: DriverConnection
  readonly #use: ConnectionUse
  readonly #setting: ConnectionSetting

  constructor (lease: Lease<DriverConnection>, setting: ConnectionSetting) {
    this.#connection = lease.raw
    this.#use = new ConnectionUse(lease, (mustClose) => {
      if (mustClose) this.#close()
      else this.#connection.release()
    })
    this.#setting = setting
  }

  query (sql: string, values: unknown[]): Streaming
  query (sql: string, values: unknown[], callback: Callback<Record<string, unknown>>): void
  query (sql: string, values: unknown[], callback?: Callback<Record<string, unknown>>): Streaming | void {
    if (callback === undefined) return this.#connection.query(sql, values)
    this.#send<Record<string, unknown>>({ sql, values }, (error, result) => {
      callback(error && markDriverFailure(error), result)
    })
  }

  askObjects ({ sql, parameters }: CompiledQuery): Promise<Answer<Row>> {
    return new Promise((resolve, reject) => {
      this.#send<Row>({ sql, values: [...parameters] }, (error, result) =>
        error === null ? resolve(answerOf(result)) : reject(error))
    })
  }

  // To ask the driver for arrays takes an object of options, and longer than to make the arrays here.
  async askArrays (query: CompiledQuery, keys: readonly string[]): Promise<Answer<ArrayRows[number]>> {
    const { rows, rowCount } = await this.askObjects(query)
    return { rows: toArrays({ rows }, keys), rowCount }
  }

  release (): void {
    this.#use.release()
  }

  /**
   * Checks the node and applies the session settings. If that fails, the connection is closed.
   *
   * @throws the driver's failure, or that of {@link requireFit}
   */
  async makeReady (): Promise<void> {
    const { statementTimeout, writable, readonly } = this.#setting.options
    try {
      const [node] = await this.#query<NodeState>(stateQuery)
      requireFit(node, writable)
      unfitErrors.set(this.#connection, unfitErrorsOf(node))
      await this.#query(sessionSettings(node, statementTimeout))
      if (readonly) await this.#query('set session transaction read only')
    } catch (error) {
      this.#use.closeAfterUse()
      this.#use.release()
      throw error
    }
  }

  #send<R> (statement: Statement, callback: Callback<R>): void {
    if (!this.#canSend()) return callback(notSent(), [])
    const { options: { statementTimeout }, prepared } = this.#setting
    const done = this.#within<R>(driverTimeout(statementTimeout), (error, result) => {
      // Nobody else may get a connection whose transaction is still open.
      if (error !== null && statement.sql === rollbackText) this.#use.closeAfterUse()
      callback(error, result)
    })
    const query = (): void => { this.#connection.query(statement.sql, statement.values, done) }
    try {
      if (prepared === undefined || statement.values.length === 0) return query()
      const name = prepared.statementOf(this.#connection, statement.sql, statement.values)?.name
      this.#execute<R>(statement, name, (error, result) =>
        error?.errno === tooManyPrepared ? query() : done(error, result))
    } catch (error) {
      // The driver throws for values such as undefined, and then never calls back.
      done(error as QueryError, [])
    }
  }

  /**
   * Prepares and runs a statement. With a name it stays prepared for the next use. Without a name it is closed on the
   * server after its answer. It is prepared in that case, too: otherwise the driver would write the values into the
   * SQL, where they may get other types.
   */
  #execute<R> ({ sql, values }: Statement, name: string | undefined, callback: Callback<R>): void {
    const running: { command?: Executing } = {}
    // The SQL and the values as arguments, because the driver takes long to copy an object of options.
    running.command = this.#connection.execute<R>(sql, values, (error, result) => {
      const isBroken = error?.fatal === true
      if (name === undefined && !isBroken) unprepare(this.#connection, name, sql)
      const isSent = running.command?.statement !== undefined
      callback(isBroken && !isSent ? notSent() : error, result)
    })
  }

  /**
   * True if a statement can be sent: no answer is overdue, and the connection has not broken. If it has broken, marks
   * it to be closed, and calls `leave`.
   */
  #canSend (): boolean {
    // Further statements of a transaction, such as its rollback, would wait behind the overdue answer.
    if (this.#use.isAbandoned) return false
    if (this.#connection.stream.writable) return true
    this.#use.closeAfterUse()
    this.#setting.leave(lostCode)
    return false
  }

  async #query<R> (sql: string): Promise<readonly R[]> {
    return await new Promise((resolve, reject) => {
      const settle: Callback<R> = (error, result) => error === null ? resolve(answerOf(result).rows) : reject(error)
      this.#connection.query(sql, this.#within(connectTimeoutMs, settle))
    })
  }

  /**
   * Returns the callback to give to the driver. It passes the answer to `callback`. If no answer comes in time,
   * `callback` gets an error instead, and the connection is not used again. The driver's own time-out does not count
   * the time in which a statement is prepared, and leaves the connection in use.
   */
  #within<R> (milliseconds: number, callback: Callback<R>): Callback<R> {
    let isSettled = false
    const settle: Callback<R> = (error, result) => {
      if (!isSettled) callback(error, result)
      isSettled = true
    }
    const deadline = new Deadline(milliseconds, () => {
      this.#abandon()
      settle(noAnswer(), [])
    })
    let isDone = false
    this.#use.sent()
    return (error, result) => {
      // The driver reports twice that a connection broke while it prepared a statement.
      if (isDone) return
      isDone = true
      deadline.end()
      if (error !== null) this.#judge(error)
      settle(error, result)
      this.#use.answered()
    }
  }

  #abandon (): void {
    this.#use.abandon()
    this.#setting.leave(noAnswerCode)
  }

  #judge (error: QueryError): void {
    const isUnfit = (unfitErrors.get(this.#connection) ?? unfitErrorsOf(undefined)).has(error.errno)
    if (!error.fatal && !isUnfit) return
    this.#use.closeAfterUse()
    this.#setting.leave(error.code)
  }

  /**
   * Closes the connection and its socket. The driver alone would wait until the server closes it too, which a dead
   * server never does.
   */
  #close (): void {
    this.#connection.destroy()
    this.#connection.stream.destroy()
  }
}
