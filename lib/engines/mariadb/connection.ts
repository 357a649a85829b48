import type { CompiledQuery, MysqlPoolConnection, MysqlQueryResult, MysqlStream, MysqlStreamOptions } from 'kysely'
import type { PoolConnection, QueryError, QueryOptions } from 'mysql2'
import type { Socket } from 'node:net'
import type { ArrayRows, Row } from '../executor.js'
import { ConnectionUse } from '../server/connection-use.js'
import { Deadline } from '../server/deadline.js'
import type { Lease } from '../server/node-connections.js'
import type { Answer, PooledConnection } from '../server/pooled-executor.js'
import type { PreparedStatements } from '../server/prepared-statements.js'
import { connectTimeout, driverTimeout, type ServerOptions } from '../server/server-options.js'
import { readsOnly, sessionSettings, situation, type Situation } from './situation.js'

/** A connection of the driver, with what its declarations leave out. */
export type DriverConnection = PoolConnection & { readonly stream: Socket, unprepare (statement: QueryOptions): unknown }

export interface ConnectionSetting {
  readonly options: Required<ServerOptions>
  /** What the connections keep prepared; undefined if nothing is to be prepared. */
  readonly prepared: PreparedStatements<DriverConnection> | undefined
  /** Called when the node of the connection turns out to be the wrong one. */
  leave (): void
}

type Callback = (error: QueryError | null, result: MysqlQueryResult) => void
type Streaming = { stream: <T>(options: MysqlStreamOptions) => MysqlStream<T> }

/** Errors of a node that will not do for the next statement either: not ready, being shut down, cut off in a commit, or only reading. */
const unfit = new Set([1047, 1053, 1180, 1290, 1836])

/** The server keeps so many prepared statements in all, and no more. */
const tooManyPrepared = 1461

/** What ends a transaction that failed. */
const rollback = 'rollback'

/** Closes a statement on the server; the driver has one for each form of rows. */
export function unprepare (connection: DriverConnection, _name: string | undefined, sql: string): void {
  connection.unprepare({ sql })
  connection.unprepare({ sql, rowsAsArray: true })
}

/** A pooled connection that is closed instead of being used again once it broke or its node turned out to be unfit. */
export class MariadbConnection implements MysqlPoolConnection, PooledConnection {
  readonly #connection: DriverConnection
  readonly #use: ConnectionUse
  readonly #setting: ConnectionSetting

  constructor (lease: Lease<DriverConnection>, setting: ConnectionSetting) {
    this.#connection = lease.raw
    this.#use = new ConnectionUse(lease, (isSpent) => {
      if (isSpent) this.#close()
      else this.#connection.release()
    })
    this.#setting = setting
  }

  query (sql: string, values: unknown[]): Streaming
  query (sql: string, values: unknown[], callback: Callback): void
  query (sql: string, values: unknown[], callback?: Callback): Streaming | undefined {
    if (callback === undefined) return this.#connection.query(sql, values) as Streaming
    this.#send({ sql, values }, callback)
    return undefined
  }

  askObjects (query: CompiledQuery): Promise<Answer<Row>> {
    return this.#run(query, {})
  }

  askArrays (query: CompiledQuery): Promise<Answer<ArrayRows[number]>> {
    return this.#run(query, { rowsAsArray: true })
  }

  release (): void {
    this.#use.release()
  }

  /** @throws what the driver threw, or an error with the number of a server that only reads, after the connection is closed */
  async makeReady (): Promise<void> {
    const { statementTimeout, writable, readonly } = this.#setting.options
    try {
      const [node] = await this.#ask(situation) as [Situation]
      if (writable && node.writes !== 1) throw readsOnly()
      await this.#ask(sessionSettings(node, statementTimeout))
      if (readonly) await this.#ask('set session transaction read only')
    } catch (error) {
      this.#use.spend()
      this.#use.release()
      throw error
    }
  }

  #run<R> ({ sql, parameters }: CompiledQuery, form: Pick<QueryOptions, 'rowsAsArray'>): Promise<Answer<R>> {
    return new Promise((resolve, reject) => {
      this.#send({ sql, values: [...parameters], ...form }, (error, result) => error === null ? resolve(answerOf(result)) : reject(error))
    })
  }

  #send (statement: QueryOptions & { readonly values: readonly unknown[] }, callback: Callback): void {
    // What a transaction still has to say, such as its rollback, would wait for an answer as well.
    if (this.#use.isAbandoned) return callback(noAnswer(), [])
    const { options: { statementTimeout }, prepared } = this.#setting
    const done = this.#within(driverTimeout(statementTimeout), (error, result) => {
      // Nobody else may get a connection whose transaction is still open.
      if (error !== null && statement.sql === rollback) this.#use.spend()
      callback(error, result)
    })
    const ask = (): void => { this.#connection.query(statement, done) }
    try {
      if (prepared === undefined || statement.values.length === 0) ask()
      else this.#execute(statement, prepared.nameOf(this.#connection, statement.sql, statement.values), (error, result) => error?.errno === tooManyPrepared ? ask() : done(error, result))
    } catch (error) {
      // The driver refuses values such as undefined at once, and would never call back.
      done(error as QueryError, undefined)
    }
  }

  /** Prepared in any case, because the server takes values for other types in a text; what is not to be kept is closed at once. */
  #execute (statement: QueryOptions & { readonly sql: string }, name: string | undefined, callback: (error: QueryError | null, result: unknown) => void): void {
    this.#connection.execute(statement, (error, result) => {
      if (name === undefined && error?.fatal !== true) unprepare(this.#connection, name, statement.sql)
      callback(error, result)
    })
  }

  async #ask (sql: string): Promise<unknown> {
    return await new Promise((resolve, reject) => {
      this.#connection.query(sql, this.#within(connectTimeout, (error, result) => error === null ? resolve(result) : reject(error)))
    })
  }

  /**
   * Passes on what comes first: the answer, or after some milliseconds that there is none. The driver's own time-out
   * leaves out the time in which a statement is prepared, and the connection as it is.
   */
  #within (milliseconds: number, callback: Callback): (error: QueryError | null, result: unknown) => void {
    let isTold = false
    const tell: Callback = (error, result) => {
      if (!isTold) callback(error, result)
      isTold = true
    }
    const deadline = new Deadline(milliseconds, () => {
      this.#abandon()
      tell(noAnswer(), [])
    })
    let isDone = false
    this.#use.ask()
    return (error, result) => {
      // Of a connection that breaks while it prepares a statement the driver tells twice.
      if (isDone) return
      isDone = true
      deadline.end()
      if (error !== null) this.#judge(error)
      tell(error, result as MysqlQueryResult)
      this.#use.answer()
    }
  }

  #abandon (): void {
    this.#use.abandon()
    this.#setting.leave()
  }

  #judge (error: QueryError): void {
    if (!error.fatal && !unfit.has(error.errno as number)) return
    this.#use.spend()
    this.#setting.leave()
  }

  /** The driver alone would wait until the server closes it as well, which a dead one never does. */
  #close (): void {
    this.#connection.destroy()
    this.#connection.stream.destroy()
  }
}

/** Rows, or how many were changed. */
function answerOf<R> (result: MysqlQueryResult): Answer<R> {
  return Array.isArray(result) ? { rows: result as R[], rowCount: 0 } : { rows: [], rowCount: Number(result.affectedRows) }
}

function noAnswer (): QueryError {
  return Object.assign(new Error('The server does not answer'), { code: 'PROTOCOL_SEQUENCE_TIMEOUT', fatal: true })
}
