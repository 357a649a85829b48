import type { CompiledQuery, MysqlPoolConnection, MysqlQueryResult, MysqlStream, MysqlStreamOptions } from 'kysely'
import type { PoolConnection, QueryError, QueryOptions } from 'mysql2'
import type { Socket } from 'node:net'
import type { ArrayRows, Row } from '../query/engine.js'
import { expectAnswer } from './deadline.js'
import type { Answer, PooledConnection } from './pooled-road.js'
import { connectTimeout, driverTimeout, type ServerOptions } from './server-options.js'

/** A connection of the driver, with what its declarations leave out. */
export type DriverConnection = PoolConnection & { readonly stream: Socket }

interface ConnectionSetting {
  readonly options: Required<ServerOptions>
  /** Called when the connection is not in use any more. */
  release (): void
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

const sqlMode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'
/** It names a table, which a Galera node refuses while it is not ready. */
const situation = `select @@global.read_only = 0 as writes, (
    select count(*) from information_schema.system_variables where variable_name = 'WSREP_ON' and session_value = 'ON'
  ) as shares from information_schema.schemata limit 1`
/** A node of Galera then waits, before it reads, for what the others have committed: a user who was deactivated elsewhere is refused. */
const readsAll = ', wsrep_sync_wait = @@global.wsrep_sync_wait | 1'

/** A pooled connection that is closed instead of being used again once it broke or its node turned out to be unfit. */
export class MariadbConnection implements MysqlPoolConnection, PooledConnection {
  readonly #connection: DriverConnection
  readonly #setting: ConnectionSetting
  #isSpent = false

  constructor (connection: DriverConnection, setting: ConnectionSetting) {
    this.#connection = connection
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
    this.#setting.release()
    if (this.#isSpent) this.#close()
    else this.#connection.release()
  }

  /** @throws what the driver threw, or an error with the number of a server that only reads, after the connection is closed */
  async makeReady (): Promise<void> {
    const { statementTimeout, writable, readonly } = this.#setting.options
    try {
      const [node] = await this.#ask(situation) as [{ writes: number, shares: number }]
      if (writable && node.writes !== 1) throw Object.assign(new Error('The node only reads'), { errno: 1290 })
      await this.#ask(`set session sql_mode = '${sqlMode}', time_zone = '+00:00', max_statement_time = ${statementTimeout / 1000}${node.shares === 1 ? readsAll : ''}`)
      if (readonly) await this.#ask('set session transaction read only')
    } catch (error) {
      this.#setting.release()
      this.#close()
      throw error
    }
  }

  #run<R> ({ sql, parameters }: CompiledQuery, form: Pick<QueryOptions, 'rowsAsArray'>): Promise<Answer<R>> {
    return new Promise((resolve, reject) => {
      this.#send({ sql, values: [...parameters], ...form }, (error, result) => error === null ? resolve(answerOf(result)) : reject(error))
    })
  }

  #send (statement: QueryOptions & { readonly values: readonly unknown[] }, callback: Callback): void {
    const { statementTimeout, preparedStatements } = this.#setting.options
    const done = this.#within(driverTimeout(statementTimeout), (error, result) => {
      // Nobody else may get a connection whose transaction is still open.
      if (error !== null && statement.sql === rollback) this.#isSpent = true
      callback(error, result)
    })
    const ask = (): void => { this.#connection.query(statement, done) }
    try {
      if (!preparedStatements || statement.values.length === 0) ask()
      else this.#connection.execute(statement, (error, result) => error?.errno === tooManyPrepared ? ask() : done(error, result))
    } catch (error) {
      // The driver refuses values such as undefined at once, and would never call back.
      done(error as QueryError, undefined)
    }
  }

  async #ask (sql: string): Promise<unknown> {
    return await new Promise((resolve, reject) => {
      this.#connection.query(sql, this.#within(connectTimeout, (error, result) => error === null ? resolve(result) : reject(error)))
    })
  }

  /**
   * Passes on what comes first: the answer, or after some milliseconds the end of a connection that gives none. The driver's own
   * time-out leaves out the time in which a statement is prepared, and the connection as it is.
   */
  #within (milliseconds: number, callback: Callback): (error: QueryError | null, result: unknown) => void {
    const timer = expectAnswer(this.#connection.stream, milliseconds)
    let isDone = false
    return (error, result) => {
      // Of a connection that breaks while it prepares a statement the driver tells twice.
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      if (error !== null) this.#judge(error)
      callback(error, result as MysqlQueryResult)
    }
  }

  #judge (error: QueryError): void {
    if (!error.fatal && !unfit.has(error.errno as number)) return
    this.#isSpent = true
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
