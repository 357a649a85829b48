import type { CompiledQuery } from 'kysely'
import type { ArrayRows, DirectExecutor, Outcome, Row } from '../executor.js'
import type { Purpose } from './node-connections.js'

/**
 * Answer of a driver: rows, as objects or arrays, and the count of rows that a write changed. Nobody reads the count of
 * a select.
 */
export interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly rowCount: number
}

/** Connection that is taken from a pool for one statement. */
export interface PooledConnection {
  askObjects (query: CompiledQuery): Promise<Answer<Row>>
  askArrays (query: CompiledQuery): Promise<Answer<ArrayRows[number]>>
  release (): void
}

/** Executor on the connections of a pool. Each is free for one statement, because it has no open transaction. */
export class PooledExecutor implements DirectExecutor {
  readonly isFree = true
  readonly #connect: (purpose: Purpose) => Promise<PooledConnection>

  constructor (connect: (purpose: Purpose) => Promise<PooledConnection>) {
    this.#connect = connect
  }

  execute (query: CompiledQuery, reached: () => void): Promise<Outcome> {
    const purpose = query.query.kind === 'SelectQueryNode' ? 'read' : 'write'
    return this.#ask({ purpose, reached }, (connection) => connection.askObjects(query), outcomeOf)
  }

  readArrays (query: CompiledQuery, reached: () => void): Promise<ArrayRows> {
    return this.#ask({ purpose: 'read', reached }, (connection) => connection.askArrays(query), rowsOf)
  }

  async #ask<Row, Result> (
    { purpose, reached }: Asked,
    ask: (connection: PooledConnection) => Promise<Answer<Row>>,
    resultOf: (answer: Answer<Row>) => Result
  ): Promise<Result> {
    const connection = await this.#connect(purpose)
    reached()
    try {
      return resultOf(await ask(connection))
    } finally {
      connection.release()
    }
  }
}

interface Asked {
  readonly purpose: Purpose
  /** Called when a connection has been taken. */
  readonly reached: () => void
}

function outcomeOf ({ rows: [row], rowCount: changed }: Answer<Row>): Outcome {
  return { row, changed }
}

function rowsOf ({ rows }: Answer<ArrayRows[number]>): ArrayRows {
  return rows
}
