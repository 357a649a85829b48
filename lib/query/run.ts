import { CompiledQuery, type QueryResult } from 'kysely'
import pRetry, { type Options } from 'p-retry'
import { errors, withRetryAfter } from '../errors.js'
import type { Dialect, FailureKind } from '../vocabulary/dialects.js'
import type { Engine, Row } from './engine.js'

/** What a statement did: its rows, and how many it changed. */
export interface Outcome {
  readonly rows: readonly Row[]
  readonly changed: number
}

/** A statement that a rule of the database refused: the caller knows what it means for the client. */
export class StatementFailure extends Error {
  readonly kind: FailureKind
  constructor (kind: FailureKind, cause: unknown) {
    super(`The database refused a statement: ${kind}`, { cause })
    this.kind = kind
  }
}

/** Nothing was done, or what was done may be done again. */
class Repeatable extends Error {}

const begin = CompiledQuery.raw('begin')
const commit = CompiledQuery.raw('commit')
const rollback = CompiledQuery.raw('rollback')

/** Short enough for a client that waits, long enough for another node to take over. */
const patience = { retries: 4, minTimeout: 50, factor: 2, maxTimeout: 800, maxRetryTime: 3000, randomize: true } as const satisfies Options

/**
 * Runs a statement, again and after a pause if it certainly was not executed. A write whose outcome is unknown is never
 * repeated; a read is.
 *
 * @throws StatementFailure if a rule of the database refuses it; REST_MODELS_UNAVAILABLE (503) with Retry-After if the
 *   engine cannot do it now; else what the driver threw
 */
export async function run (engine: Engine, query: CompiledQuery): Promise<Outcome> {
  const isRead = query.query.kind === 'SelectQueryNode'
  return await insist(engine.dialect, isRead, async (reached) =>
    await engine.db.getExecutor().provideConnection(async (connection) => {
      reached()
      return outcomeOf(await connection.executeQuery<Row>(query))
    }))
}

/**
 * Runs a search by text, and once more without the help of an index if a column cannot hold what it is compared with.
 *
 * @throws as {@link run}
 */
export async function search (engine: Engine, compile: (dialect: Dialect) => CompiledQuery): Promise<Outcome> {
  try {
    return await run(engine, compile(engine.dialect))
  } catch (failure) {
    if (!(failure instanceof StatementFailure) || failure.kind !== 'incomparable') throw failure
    return await run(engine, compile({ ...engine.dialect, seeksByCollation: false }))
  }
}

/**
 * Runs a write and then, if it changed something, a read, in one transaction, as a whole.
 *
 * @returns the rows of the read, and how many the write changed
 * @throws as {@link run}
 */
export async function runTogether (engine: Engine, write: CompiledQuery, read: CompiledQuery): Promise<Outcome> {
  return await insist(engine.dialect, false, async (reached) =>
    await engine.db.getExecutor().provideConnection(async (connection) => {
      await connection.executeQuery(begin)
      reached()
      try {
        const { changed } = outcomeOf(await connection.executeQuery<Row>(write))
        // A record that the write did not find may be there again by now.
        const rows = changed === 0 ? [] : (await connection.executeQuery<Row>(read)).rows
        await connection.executeQuery(commit)
        return { rows, changed }
      } catch (failure) {
        // A rollback that says that nothing was done must not hide that nobody knows what became of the commit before.
        await connection.executeQuery(rollback).catch(() => {})
        throw failure
      }
    }))
}

function outcomeOf ({ rows, numAffectedRows }: QueryResult<Row>): Outcome {
  return { rows, changed: Number(numAffectedRows ?? 0n) }
}

/** Work that says when it has a connection: what fails before was not executed. */
type Work = (reached: () => void) => Promise<Outcome>

async function insist (dialect: Dialect, isRead: boolean, work: Work): Promise<Outcome> {
  const start = performance.now()
  try {
    return await attempt(dialect, isRead, work)
  } catch (failure) {
    if (!(failure instanceof Repeatable)) throw failure
    return await repeat(failure, performance.now() - start, async () => await attempt(dialect, isRead, work))
  }
}

/** What failed once already counts as the first of the attempts: only failures pay for the machinery. */
async function repeat (first: Repeatable, took: number, attemptAgain: () => Promise<Outcome>): Promise<Outcome> {
  const maxRetryTime = Math.max(0, patience.maxRetryTime - took)
  const options = { ...patience, maxRetryTime, shouldRetry: ({ error }: { error: Error }) => error instanceof Repeatable }
  try {
    return await pRetry(async (number) => {
      if (number === 1) throw first
      return await attemptAgain()
    }, options)
  } catch (failure) {
    throw failure instanceof Repeatable ? unavailable(failure.cause) : failure
  }
}

async function attempt (dialect: Dialect, isRead: boolean, work: Work): Promise<Outcome> {
  let isReached = false
  try {
    return await work(() => { isReached = true })
  } catch (cause) {
    throw judge(isReached ? failureKind(dialect, cause) : 'unexecuted', cause, isRead)
  }
}

function judge (kind: FailureKind | undefined, cause: unknown, isRead: boolean): unknown {
  if (kind === undefined) return cause
  if (kind === 'unexecuted' || (kind === 'lost' && isRead)) return new Repeatable('The statement may be repeated', { cause })
  return kind === 'lost' || kind === 'unavailable' ? unavailable(cause) : new StatementFailure(kind, cause)
}

function unavailable (cause: unknown): Error {
  return withRetryAfter(new errors.Unavailable({ cause }), 1)
}

function failureKind ({ codesOf, failures }: Dialect, failure: unknown): FailureKind | undefined {
  const code = failure instanceof Error ? codesOf(failure).find((name) => Object.hasOwn(failures, name)) : undefined
  return code === undefined ? undefined : failures[code]
}
