import type { CompiledQuery, PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import type { ArrayRows, Row } from '../executor.js'
import { ConnectionUse } from '../server/connection-use.js'
import { Deadline } from '../server/deadline.js'
import type { Lease } from '../server/node-connections.js'
import type { Answer, PooledConnection } from '../server/pooled-executor.js'
import type { PreparedStatements } from '../server/prepared-statements.js'
import { connectTimeout, type ServerOptions } from '../server/server-options.js'

/** A connection of the driver, with what its declarations leave out. */
export type DriverClient = pg.PoolClient & { readonly processID: number }

export interface ConnectionSetting {
  /** Milliseconds after which a connection that gives no answer is ended. */
  readonly timeout: number
  /** What the connections have prepared; undefined if nothing is to be prepared. */
  readonly prepared: PreparedStatements<DriverClient> | undefined
  /** Called when the node of the connection turns out to be the wrong one. */
  leave (): void
}

interface NodeState {
  readonly standby: boolean
  readonly reads: boolean
  readonly iso: boolean
}

const stateQuery = "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as reads, current_setting('DateStyle') like 'ISO%' as iso"

/** The SQLSTATEs of a node that will not do for the next statement either: it only reads, or is being shut down. */
const unfit = new Set(['25006', '57P01', '57P02', '57P03'])
/** The SQLSTATEs of a prepared statement that its table has outgrown, or that a pooler has lost or given to another client. */
const outgrown = new Set(['0A000', '26000', '42P05'])

/** What ends a transaction that failed. */
const rollback = 'rollback'

/** The driver's connection, with what its declarations leave out: the texts of what it has prepared, by name. */
type DriverConnection = pg.Connection & { readonly parsedStatements: Record<string, string> }

/** Closes a prepared statement by a message ahead of those of the next one, so that nobody waits for it. */
export function unprepare (client: DriverClient, name: string): void {
  const connection = client.connection as DriverConnection
  connection.close({ type: 'S', name }, true)
  delete connection.parsedStatements[name]
}

/** A pooled connection that is closed instead of being used again once it broke or its node turned out to be unfit. */
export class PostgresConnection implements PostgresPoolClient, PooledConnection {
  readonly #client: DriverClient
  readonly #use: ConnectionUse
  readonly #setting: ConnectionSetting

  constructor (lease: Lease<DriverClient>, setting: ConnectionSetting) {
    this.#client = lease.raw
    this.#use = new ConnectionUse(lease, (isSpent) => { this.#client.release(isSpent) })
    this.#setting = setting
  }

  query<R> (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R> (cursor: PostgresCursor<R>): PostgresCursor<R>
  query<R> (wanted: string | PostgresCursor<R>, values: readonly unknown[] = []): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof wanted !== 'string') return this.#client.query(wanted as PostgresCursor<R> & pg.Submittable)
    return this.#run<R>(wanted, values)
  }

  askObjects ({ sql, parameters }: CompiledQuery): Promise<Answer<Row>> {
    return this.#run<Row>(sql, parameters)
  }

  askArrays ({ sql, parameters }: CompiledQuery): Promise<Answer<ArrayRows[number]>> {
    return this.#run<ArrayRows[number]>(sql, parameters, { rowMode: 'array' })
  }

  release (): void {
    this.#use.release()
  }

  /**
   * Makes sure that a new connection is as it should be, and lets it write dates in the one style that is read.
   *
   * @throws an error with the SQLSTATE of a read-only transaction, or of a feature that is not supported, after the connection is closed
   */
  async makeReady ({ writable, readonly }: Pick<Required<ServerOptions>, 'writable' | 'readonly'>): Promise<void> {
    try {
      const { rows: [node] } = await this.#ask<NodeState>({ text: stateQuery }, connectTimeout)
      if (writable && node?.standby !== false) throw isStandby()
      if (readonly && node?.reads !== true) throw Object.assign(new Error("A pooler before the server drops 'options', so that this connection would not be read only"), { code: '0A000' })
      if (node?.iso !== true) await this.#ask({ text: 'set datestyle = ISO' }, connectTimeout)
    } catch (error) {
      this.#use.spend()
      this.#use.release()
      throw error
    }
  }

  #run<R> (text: string, values: readonly unknown[], form: { readonly rowMode?: 'array' } = {}): Promise<PostgresQueryResult<R>> {
    const name = this.#setting.prepared?.nameOf(this.#client, text, values)
    return this.#ask({ text, values: [...values], ...form, ...(name !== undefined && { name }) }, this.#setting.timeout)
  }

  /** By callback: the driver's own promises would keep the rows until the next major garbage collection. */
  #ask<R> (query: pg.QueryConfig, timeout: number): Promise<PostgresQueryResult<R>> {
    return new Promise((resolve, reject) => {
      // What a transaction still has to say, such as its rollback, would wait for an answer as well.
      if (this.#use.isAbandoned) return reject(noAnswer())
      const deadline = new Deadline(timeout, () => {
        this.#abandon()
        reject(noAnswer())
      })
      this.#use.ask()
      this.#client.query(query, (error: Error | null, result) => {
        deadline.end()
        if (error === null) resolve(result as PostgresQueryResult<R> & pg.QueryResult)
        else {
          this.#judge(error)
          // Nobody else may get a connection whose transaction is still open.
          if (query.text === rollback) this.#use.spend()
          reject(error)
        }
        this.#use.answer()
      })
    })
  }

  #abandon (): void {
    this.#use.abandon()
    this.#setting.leave()
  }

  /** An error that the server did not send means that the connection broke. */
  #judge (error: unknown): void {
    const code = error instanceof pg.DatabaseError ? String(error.code) : undefined
    const isUnfit = code === undefined || unfit.has(code)
    if (isUnfit || outgrown.has(code)) this.#use.spend()
    if (isUnfit) this.#setting.leave()
  }
}

function noAnswer (): Error {
  return new Error('The server does not answer')
}

/** Why a server will not do that accepts no writes. */
export function isStandby (): Error {
  return Object.assign(new Error('The node is a standby'), { code: '25006' })
}
