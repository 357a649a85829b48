import { connect } from 'node:net'
import { createConnection, createPool, type ConnectionOptions } from 'mysql2/promise'
import pg from 'pg'

export type Row = Readonly<Record<string, unknown>>
type Ask = (url: URL, statement: string, milliseconds: number) => Promise<readonly Row[]>

const drivers: Readonly<Record<string, Ask>> = {
  'postgres:': askPostgres, 'postgresql:': askPostgres, 'mariadb:': askMariadb, 'mysql:': askMariadb
}

/** The rows of one statement, on a connection of its own; `milliseconds` bound the log-in, and then the statement. */
export async function runSql (url: string, statement: string, milliseconds = 20_000): Promise<readonly Row[]> {
  const parsed = new URL(url)
  const ask = drivers[parsed.protocol]
  if (ask === undefined) throw new Error(`no driver for '${parsed.protocol}'`)
  return await ask(parsed, statement, milliseconds)
}

async function askPostgres (url: URL, statement: string, milliseconds: number): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: milliseconds })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await within(milliseconds, client.query<Row>(statement))).rows
  } finally {
    client.end().catch(() => {})
  }
}

async function askMariadb (url: URL, statement: string, milliseconds: number): Promise<readonly Row[]> {
  const connection = await createConnection(optionsOf(url, milliseconds))
  connection.on('error', () => {})
  try {
    return rowsOf(await within(milliseconds, connection.query(statement)))
  } finally {
    connection.destroy()
  }
}

/**
 * What runs statements on one connection, because a new one costs more time than most statements. The connection is
 * replaced if it is lost. While it is idle, it does not keep the process alive.
 */
export function keepConnection (url: string, milliseconds = 20_000): (statement: string) => Promise<readonly Row[]> {
  const parsed = new URL(url)
  const ask = drivers[parsed.protocol] === askMariadb ? keepMariadb : keepPostgres
  const asked = ask(parsed, milliseconds)
  return async (statement) => await within(milliseconds, asked(statement))
}

function keepPostgres (url: URL, milliseconds: number): (statement: string) => Promise<readonly Row[]> {
  const pool = new pg.Pool({
    connectionString: url.href,
    connectionTimeoutMillis: milliseconds,
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true
  })
  pool.on('error', () => {})
  return async (statement) => (await pool.query<Row>(statement)).rows
}

function keepMariadb (url: URL, milliseconds: number): (statement: string) => Promise<readonly Row[]> {
  const options = optionsOf(url, milliseconds)
  const { host, port = 0 } = options
  const pool = createPool({ ...options, stream: () => connect({ host, port }).unref(), connectionLimit: 1 })
  return async (statement) => rowsOf(await pool.query(statement))
}

function optionsOf (url: URL, milliseconds: number): ConnectionOptions {
  return {
    host: url.hostname,
    port: Number(url.port === '' ? 3306 : url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    connectTimeout: milliseconds
  }
}

function rowsOf ([rows]: readonly [unknown, unknown]): readonly Row[] {
  return Array.isArray(rows) ? rows as Row[] : []
}

/** The time limits of both drivers outlive a connection that the server ends: this one does not. */
async function within<Result> (milliseconds: number, result: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => { reject(new Error(`no answer within ${milliseconds} ms`)) }, milliseconds)
  })
  return await Promise.race([result, late]).finally(() => { clearTimeout(timer) })
}

/** What went wrong, in the words of the driver. */
export function reasonOf (error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
