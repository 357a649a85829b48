import { randomBytes } from 'node:crypto'
import { sql, type CompiledQuery, type DatabaseConnection, type Kysely } from 'kysely'
import type { Test } from 'tap'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import { readHandle } from '../../lib/database/engine.js'
import { executorsOf } from '../../lib/engines/executor.js'
import { effectOf, withRetries } from '../../lib/engines/retry.js'
import { toStatementError } from '../../lib/engines/statement-failure.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { findEngine, type EngineName } from './engines/find-engine.js'
import { keepConnection } from './engines/sql.js'
import { createDatabase } from './engines/test-database.js'

/** The engine that this process tests. */
export const engine = (process.env['TEST_ENGINE'] ?? 'sqlite') as 'sqlite' | EngineName

/** A database of its own, empty, for one test. */
export interface EmptyDatabase {
  /** What opens it once more; of SQLite's in memory there is no second. */
  readonly url: string
  open (): Kysely<Tables>
  remove (): Promise<void>
}

type Options = Parameters<typeof openPostgres>[1]

const openers = {
  sqlite: () => openSqlite(':memory:'),
  postgres: (url: string, options?: Options) => openPostgres(url, options),
  mariadb: (url: string, options?: Options) => openMariadb(url, options)
}

/** Opens the database of a URL with the engine of this process. */
export function openUrl (url: string, options?: Options): Kysely<Tables> {
  return openers[engine](url, options)
}

/** A handle on an empty database, closed and removed when the test ends. */
export async function openDatabase (t: Test): Promise<Kysely<Tables>> {
  return openUntilEnd(t, await emptyDatabase())
}

/**
 * The same without the schemas of other tests beside it, for what lists those of a database of PostgreSQL: which tests
 * share a process changes with each new test file.
 */
export async function openSeparateDatabase (t: Test): Promise<Kysely<Tables>> {
  if (engine !== 'postgres') return await openDatabase(t)
  const { url, drop } = await createDatabase(await (server ??= findServer(engine)))
  return openUntilEnd(t, { url, open: () => openUrl(url), remove: drop })
}

function openUntilEnd (t: Test, { open, remove }: EmptyDatabase): Kysely<Tables> {
  const db = open()
  t.teardown(async () => {
    await db.destroy()
    await remove()
  })
  return db
}

/** An empty database: SQLite in memory, a schema of PostgreSQL, or a database of MariaDB, which is the same there. */
export async function emptyDatabase (): Promise<EmptyDatabase> {
  if (engine === 'sqlite') return { url: 'sqlite::memory:', open: openers.sqlite, remove: async () => {} }
  const { url: database, run } = await (shared ??= shareDatabase(engine))
  const name = `t${randomBytes(6).toString('hex')}`
  await run(engine === 'postgres'
    ? `create schema ${name}`
    : `create database ${name} character set utf8mb4 collate utf8mb4_general_ci`)
  const url = new URL(database)
  if (engine === 'postgres') url.searchParams.set('options', `-c search_path=${name}`)
  else url.pathname = `/${name}`
  return {
    url: url.href,
    open: () => openUrl(url.href),
    remove: async () => {
      await run(engine === 'postgres' ? `drop schema ${name} cascade` : `drop database ${name}`)
    }
  }
}

/** A database that the tests of this process share, and what runs statements in it. */
interface SharedDatabase {
  readonly url: string
  readonly run: ReturnType<typeof keepConnection>
}

/** The URL of the server, and the database on it. */
let server: Promise<string> | undefined
let shared: Promise<SharedDatabase> | undefined

async function findServer (name: EngineName): Promise<string> {
  const found = await findEngine(name)
  if (found.url === undefined) throw new Error(found.why)
  await atEnd(found.stop)
  return found.url
}

async function shareDatabase (name: EngineName): Promise<SharedDatabase> {
  const { url, drop } = await createDatabase(await (server ??= findServer(name)))
  await atEnd(drop)
  return { url, run: keepConnection(url) }
}

async function atEnd (clean: () => Promise<void>): Promise<void> {
  // Only here: in a process that a test has started, tap would take itself for one that runs tests.
  const { default: tap } = await import('tap')
  tap.teardown(clean)
}

/** Lets the engine go on counting after the primary keys that were written by hand. */
export async function skipKeys (db: Kysely<Tables>, table: string): Promise<void> {
  if (engine !== 'postgres') return
  await sql`select setval(pg_get_serial_sequence(${`"${table}"`}, 'id'), (select max(id) from ${sql.table(table)}))`
    .execute(db)
}

/** Lists every statement on a handle until the test ends. */
export async function recordStatements (t: Test, db: Kysely<Tables>): Promise<CompiledQuery[]> {
  const statements: CompiledQuery[] = []
  const note = (query: CompiledQuery): void => { statements.push(query) }
  await db.getExecutor().provideConnection(async (connection) => {
    // SQLite has one connection; those of a pool have their class in common.
    if (engine === 'sqlite') record(connection, note)
    else recordAll(Object.getPrototypeOf(connection) as DatabaseConnection, note)
  })
  beforeDirect(db, note)
  t.teardown(() => recorders.delete(note))
  return statements
}

const recorders = new Set<(query: CompiledQuery) => void>()
const recorded = new WeakSet<DatabaseConnection>()

function recordAll (prototype: DatabaseConnection, note: (query: CompiledQuery) => void): void {
  recorders.add(note)
  if (recorded.has(prototype)) return
  recorded.add(prototype)
  record(prototype, (query) => { for (const recorder of recorders) recorder(query) })
}

function record (connection: DatabaseConnection, note: (query: CompiledQuery) => void): void {
  const { executeQuery } = connection
  connection.executeQuery = async function <Row> (this: DatabaseConnection, query: CompiledQuery) {
    note(query)
    return await executeQuery.call<DatabaseConnection, [CompiledQuery], ReturnType<typeof executeQuery<Row>>>(
      this, query
    )
  }
}

/**
 * Does something before each statement that goes past Kysely's driver; only statements for a server wait for it. What
 * fails now fails as the statement would.
 */
export function beforeDirect (db: Kysely<Tables>, act: (query: CompiledQuery) => Promise<void> | void): void {
  const { dialect } = readHandle(db)
  const actBefore = <Result> (query: CompiledQuery, run: () => Result | Promise<Result>): Result | Promise<Result> => {
    const attempt = (): Result | Promise<Result> => {
      let done
      try {
        done = act(query)
      } catch (failure) {
        throw toStatementError(dialect, failure, effectOf(query))
      }
      return done === undefined || engine === 'sqlite' ? run() : done.then(run)
    }
    try {
      return attempt()
    } catch (failure) {
      let isFirst = true
      return withRetries(async () => {
        if (!isFirst) return await attempt()
        isFirst = false
        throw failure
      })
    }
  }
  for (const executor of new Set(Object.values(executorsOf(db) ?? {}))) {
    const { execute, readArrays } = executor
    const isFree = (): boolean => !('isFree' in executor) || executor.isFree === true
    executor.execute = (query) => {
      const run = () => execute.call(executor, query)
      return isFree() ? actBefore(query, run) : run()
    }
    executor.readArrays = (query, keys) => {
      const run = () => readArrays.call(executor, query, keys)
      return isFree() ? actBefore(query, run) : run()
    }
  }
}
