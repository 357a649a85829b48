import type { CompiledQuery } from 'kysely'
import type { ArrayRows, DirectRoad, Outcome, Row } from '../query/engine.js'
import type { Purpose } from './node-connections.js'

/** What a driver answers: rows, of which it makes objects or arrays, and how many a write changed; of a select, nobody asks for that. */
export interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly rowCount: number
}

/** A connection that is taken from a pool for one statement. */
export interface PooledConnection {
  askObjects (query: CompiledQuery): Promise<Answer<Row>>
  askArrays (query: CompiledQuery): Promise<Answer<ArrayRows[number]>>
  release (): void
}

/** The connections of a pool, each of which is free for one statement: nobody has a transaction open on it. */
export class PooledRoad implements DirectRoad {
  readonly isFree = true
  readonly #connect: (purpose: Purpose) => Promise<PooledConnection>

  constructor (connect: (purpose: Purpose) => Promise<PooledConnection>) {
    this.#connect = connect
  }

  execute (query: CompiledQuery, reached: () => void): Promise<Outcome> {
    return this.#ask(query.query.kind === 'SelectQueryNode' ? 'read' : 'write', async (connection) => {
      reached()
      return outcomeOf(await connection.askObjects(query))
    })
  }

  readArrays (query: CompiledQuery, reached: () => void): Promise<ArrayRows> {
    return this.#ask('read', async (connection) => {
      reached()
      return rowsOf(await connection.askArrays(query))
    })
  }

  async #ask<Result> (purpose: Purpose, ask: (connection: PooledConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#connect(purpose)
    try {
      return await ask(connection)
    } finally {
      connection.release()
    }
  }
}

function outcomeOf ({ rows: [row], rowCount: changed }: Answer<Row>): Outcome {
  return { row, changed }
}

function rowsOf ({ rows }: Answer<ArrayRows[number]>): ArrayRows {
  return rows
}
