import { CompiledQuery, type DatabaseConnection, type QueryResult } from 'kysely'
import type { ArrayRows, DirectExecutor, MaybePromise, Outcome, Row } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import type { Handle } from './engine.js'
import { catchFailure, StatementFailure, withRetries } from './retry.js'

const begin = CompiledQuery.raw('begin')
const commit = CompiledQuery.raw('commit')
const rollback = CompiledQuery.raw('rollback')

/**
 * Runs a statement on one record, and repeats it after a pause if it certainly was not executed. A write whose outcome
 * is unknown is never repeated; a read is.
 *
 * @throws StatementFailure if a rule of the database refuses it; REST_MODELS_UNAVAILABLE (503) with Retry-After if the
 *   engine cannot do it now; otherwise what the driver threw
 */
export function run (engine: Handle, query: CompiledQuery): MaybePromise<Outcome> {
  return runOn(engine, query, {
    directly: (executor, reached) => executor.execute(query, reached),
    inTurn: async (connection) => outcomeOf(await connection.executeQuery<Row>(query))
  })
}

/**
 * Runs a statement that selects, and returns rows without keys.
 *
 * @param keys  the selected keys
 * @returns the values of each row, in the order of the keys
 * @throws as {@link run}
 */
export function runArrays (engine: Handle, query: CompiledQuery, keys: readonly string[]): MaybePromise<ArrayRows> {
  return runOn(engine, query, {
    directly: (executor, reached) => executor.readArrays(query, reached),
    inTurn: async (connection) => {
      const { rows } = await connection.executeQuery<Row>(query)
      return rows.map((row) => keys.map((key) => row[key] as Stored))
    }
  })
}

/**
 * Runs a search by text. If a column cannot hold the text that it is compared with, the search runs once more without
 * the help of an index.
 *
 * @throws as {@link run}
 */
export function search<Searched extends Handle, Result> (
  engine: Searched, searchOn: (engine: Searched) => MaybePromise<Result>
): MaybePromise<Result> {
  const searchAgain = (failure: unknown): MaybePromise<Result> => {
    if (!(failure instanceof StatementFailure) || failure.kind !== 'incomparable') throw failure
    return searchOn({ ...engine, dialect: { ...engine.dialect, seeksByCollation: false } })
  }
  return catchFailure(searchAgain, () => searchOn(engine))
}

/**
 * Runs a write and, if it changed something, a read in one transaction. Both are repeated together or not at all.
 *
 * @returns the row of the read, and how many rows the write changed
 * @throws as {@link run}
 */
export async function runTogether (engine: Handle, write: CompiledQuery, read: CompiledQuery): Promise<Outcome> {
  return await withRetries(engine.dialect, false, async (reached) =>
    await engine.db.getExecutor().provideConnection(async (connection) => {
      await connection.executeQuery(begin)
      reached()
      try {
        const { changed } = outcomeOf(await connection.executeQuery<Row>(write))
        // If the write did not find the record, a read could find one that was created since.
        const row = changed === 0 ? undefined : (await connection.executeQuery<Row>(read)).rows[0]
        await connection.executeQuery(commit)
        return { row, changed }
      } catch (failure) {
        // A failed rollback would say that nothing was done, and hide that the outcome of the commit is unknown.
        await connection.executeQuery(rollback).catch(() => {})
        throw failure
      }
    }))
}

/** Two ways to run a statement: past Kysely's driver if that is free, otherwise on a connection of the driver. */
interface Execution<Result> {
  directly (executor: DirectExecutor, reached: () => void): MaybePromise<Result>
  inTurn (connection: DatabaseConnection): Promise<Result>
}

function runOn<Result> (
  { db, dialect, direct, queue }: Handle, { query }: CompiledQuery, { directly, inTurn }: Execution<Result>
): MaybePromise<Result> {
  const isRead = query.kind === 'SelectQueryNode'
  return withRetries(dialect, isRead, (reached) => {
    if (direct?.isFree === true) return directly(direct, reached)
    const use = async (connection: DatabaseConnection): Promise<Result> => {
      reached()
      return await inTurn(connection)
    }
    return queue === undefined ? db.getExecutor().provideConnection(use) : queue.use(use)
  })
}

function outcomeOf ({ rows, numAffectedRows }: QueryResult<Row>): Outcome {
  return { row: rows[0], changed: Number(numAffectedRows ?? 0n) }
}
