import { CompiledQuery } from 'kysely'
import { healthOf } from '../engines/executor.js'
import type { DialectName } from '../engines/dialect.js'
import {
  down, healthTimeoutMs, type HealthReport, type HealthStatus, type PoolState, type ServerRole
} from '../engines/health.js'
import { readHandle, type AnyKysely, type Handle } from './engine.js'

/** State of the databases of an app. */
export interface Health {
  /**
   * `up` if `db` accepts writes, `read-only` if it answers but accepts none, `down` if it gives no answer within a
   * second, or cannot serve, as a Galera node without a majority. A Kysely instance of your own is `up` if it answers.
   */
  readonly status: HealthStatus
  readonly engine: DialectName
  /** Role of the database server in use; null if it is not known. */
  readonly role: ServerRole | null
  /**
   * Seconds that the server from which lists and reads come is behind its primary; 0 for any server that is no replica,
   * and for SQLite; null if it gives no answer, or if the lag is not known.
   */
  readonly replicaLagSeconds: number | null
  /**
   * Connections of this process to the server in use; null for SQLite, for a Kysely instance of your own, and after the
   * database was closed.
   */
  readonly pool: PoolState | null
}

/** Milliseconds for which an answer is given again, so that nobody makes the databases work by asking often. */
const validMs = 250

/**
 * Reports the state of the databases of an app. Callers that ask at the same time, or within 250 ms after an answer,
 * get the same answer.
 */
export class HealthCheck {
  readonly #ask: () => Promise<Health>
  #answer: Promise<Health> | undefined
  #asked = -Infinity

  constructor (db: AnyKysely, readDb: AnyKysely) {
    this.#ask = healthReader(db, readDb)
  }

  /** Returns the state of the databases. It never rejects, and takes about a second at most. */
  async read (): Promise<Health> {
    if (this.#answer === undefined || performance.now() - this.#asked > validMs) {
      // The 250 ms count from the answer. Until it comes, no second question is asked.
      this.#asked = Infinity
      this.#answer = this.#ask().finally(() => { this.#asked = performance.now() })
    }
    return await this.#answer
  }
}

function healthReader (db: AnyKysely, readDb: AnyKysely): () => Promise<Health> {
  const { dialect: { name: engine } } = readHandle(db)
  const readWriter = reporterOf(db)
  const readReader = readDb === db ? undefined : reporterOf(readDb)
  return async () => {
    const [writer, reader] = await Promise.all([readWriter(), readReader?.()])
    const { status, role, pool } = writer
    const { lag } = reader ?? writer
    return Object.freeze({ status, engine, role, replicaLagSeconds: lag === null ? null : lag / 1000, pool })
  }
}

function reporterOf (db: AnyKysely): () => Promise<HealthReport> {
  return healthOf(db) ?? foreignReporter(readHandle(db))
}

const question = CompiledQuery.raw('select 1')

/**
 * Returns a function that reports the state of a database that the plugin did not open. The function runs `select 1` on
 * a connection of the Kysely instance. While one such query has no answer, further calls wait for that answer and send
 * no other query. If the answer comes within a second, the status is `up`, and all else is unknown. Otherwise the
 * report is {@link down}.
 */
function foreignReporter ({ provideConnection }: Pick<Handle, 'provideConnection'>): () => Promise<HealthReport> {
  let open: Promise<HealthReport> | undefined
  const ask = async (): Promise<HealthReport> => {
    await provideConnection(async (connection) => await connection.executeQuery(question))
    return { ...down, status: 'up' }
  }
  return async () => {
    open ??= ask().catch(() => down).finally(() => { open = undefined })
    return await within(healthTimeoutMs, open)
  }
}

async function within (milliseconds: number, report: Promise<HealthReport>): Promise<HealthReport> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<HealthReport>((resolve) => { timer = setTimeout(resolve, milliseconds, down) })
  return await Promise.race([report, late]).finally(() => { clearTimeout(timer) })
}
