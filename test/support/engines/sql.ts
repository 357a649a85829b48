import type { Socket } from 'node:net'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'

export type Row = Readonly<Record<string, unknown>>

interface Connection {
  ask (statement: string): Promise<readonly Row[]>
  close (): void
  /** While it is idle, it may let the process end. */
  setIdle (isIdle: boolean): void
}

type Connect = (url: URL, milliseconds: number, onLoss?: () => void) => Promise<Connection>

const drivers: Readonly<Record<string, Connect>> = {
  'postgres:': connectPostgres, 'postgresql:': connectPostgres, 'mariadb:': connectMariadb, 'mysql:': connectMariadb
}

/** The rows of one statement, on a connection of its own; `milliseconds` bound the log-in, and then the statement. */
export async function runSql (url: string, statement: string, milliseconds = 20_000): Promise<readonly Row[]> {
  const connection = await connect(url, milliseconds)
  try {
    return await within(milliseconds, connection.ask(statement))
  } finally {
    connection.close()
  }
}

/**
 * What runs statements on one connection, because a new one costs more time than most statements. A connection that was
 * lost is replaced before the next statement.
 */
export function keepConnection (url: string, milliseconds = 20_000): (statement: string) => Promise<readonly Row[]> {
  let kept: Promise<Connection> | undefined
  let asking = 0
  return async (statement) => {
    const connection = await (kept ??= connect(url, milliseconds, () => { kept = undefined }))
    asking++
    connection.setIdle(false)
    try {
      return await within(milliseconds, connection.ask(statement))
    } finally {
      connection.setIdle(--asking === 0)
    }
  }
}

async function connect (url: string, milliseconds: number, onLoss = () => {}): Promise<Connection> {
  const parsed = new URL(url)
  const driver = drivers[parsed.protocol]
  if (driver === undefined) throw new Error(`no driver for '${parsed.protocol}'`)
  return await driver(parsed, milliseconds, onLoss)
}

async function connectPostgres (url: URL, milliseconds: number, onLoss = () => {}): Promise<Connection> {
  const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: milliseconds })
  client.on('error', onLoss)
  client.on('end', onLoss)
  try {
    await client.connect()
  } catch (failure) {
    client.end().catch(() => {})
    throw failure
  }
  return {
    ask: async (statement) => (await client.query<Row>(statement)).rows,
    close: () => { client.end().catch(() => {}) },
    setIdle: (isIdle) => { hold(client, !isIdle) }
  }
}

async function connectMariadb (url: URL, milliseconds: number, onLoss = () => {}): Promise<Connection> {
  const connection = await createConnection({
    host: url.hostname,
    port: Number(url.port === '' ? 3306 : url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    connectTimeout: milliseconds
  })
  connection.on('error', onLoss)
  const { stream } = (connection as unknown as { readonly connection: { readonly stream: Socket } }).connection
  stream.on('close', onLoss)
  return {
    async ask (statement) {
      const [rows] = await connection.query(statement)
      return Array.isArray(rows) ? rows as Row[] : []
    },
    close: () => { connection.destroy() },
    setIdle: (isIdle) => { hold(stream, !isIdle) }
  }
}

/** Lets what is open keep the process alive, or not. */
function hold (open: unknown, isHeld: boolean): void {
  const { ref, unref } = open as Socket
  const change = isHeld ? ref : unref
  change.call(open)
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
