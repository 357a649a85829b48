import type { CompiledQuery } from 'kysely'
import type { ArrayRows, DirectRoad, Outcome, Row } from '../query/engine.js'

/** What a driver answers: rows, of which it makes objects or arrays, and how many a write changed. */
export interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly changed: number
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
  readonly #connect: () => Promise<PooledConnection>

  constructor (connect: () => Promise<PooledConnection>) {
    this.#connect = connect
  }

  async execute (query: CompiledQuery, reached: () => void): Promise<Outcome> {
    const { rows: [row], changed } = await this.#ask(reached, (connection) => connection.askObjects(query))
    return { row, changed }
  }

  async readArrays (query: CompiledQuery, reached: () => void): Promise<ArrayRows> {
    const { rows } = await this.#ask(reached, (connection) => connection.askArrays(query))
    return rows
  }

  async #ask<Row> (reached: () => void, ask: (connection: PooledConnection) => Promise<Answer<Row>>): Promise<Answer<Row>> {
    const connection = await this.#connect()
    reached()
    try {
      return await ask(connection)
    } finally {
      connection.release()
    }
  }
}
