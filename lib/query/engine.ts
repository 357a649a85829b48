import { Kysely, sql, type CompiledQuery, type Dialect as KyselyDialect, type RawBuilder } from 'kysely'
import { errors } from '../errors.js'
import type { Requirement } from '../vocabulary/dialect.js'
import { dialects, type Dialect } from '../vocabulary/dialects.js'
import type { Stored } from '../vocabulary/storage.js'
import { ConnectionQueue } from './connection-queue.js'
import type { Soon } from './insist.js'
import { Shapes } from './shapes.js'

/** Any Kysely instance, whatever its tables. */
export type AnyKysely = Pick<Kysely<never>, 'getExecutor' | 'introspection'>

/** A row as it comes from a driver: one value for each selected key. */
export type Row = Readonly<Record<string, Stored>>

/** Rows without keys: for each its values, in the order of the selection. */
export type ArrayRows = ReadonlyArray<readonly Stored[]>

/** What a statement on one record did: the first row that it gave, and how many it changed. */
export interface Outcome {
  readonly row: Row | undefined
  readonly changed: number
}

/** A road to the engine past Kysely's driver, which costs as much as a short statement. What was executed is committed when it answers, and no part of a transaction of somebody else's. */
export interface DirectRoad {
  /** Whether it is open now. */
  readonly isFree: boolean
  /** @param reached  called when there is a connection */
  execute (query: CompiledQuery, reached: () => void): Soon<Outcome>
  /** As {@link execute}, for rows: making objects of them is what a list would cost. */
  readArrays (query: CompiledQuery, reached: () => void): Soon<ArrayRows>
}

/** What a handle is for: one that only reads is given what nobody writes on, so that it awaits nobody. */
export type Role = 'reader' | 'writer'

export type DirectRoads = Readonly<Record<Role, DirectRoad>>

/**
 * The roads of the handles that the plugin's own functions opened. What is made of such a handle, a transaction or one
 * connection of it, is another handle, which must be asked itself.
 */
const directRoads = new WeakMap<object, DirectRoads>()

/** Closes what Kysely leaves open if nothing has gone through its driver, but only by the direct roads. */
class RoadKysely<DB> extends Kysely<DB> {
  readonly #close: () => Promise<void>

  constructor (dialect: KyselyDialect, close: () => Promise<void>) {
    super({ dialect })
    this.#close = close
  }

  override async destroy (): Promise<void> {
    await super.destroy()
    await this.#close()
  }
}

/**
 * A Kysely instance whose database can also be reached past its driver.
 *
 * @param close  closes the database; called after the driver, which may have closed it already
 */
export function openKysely<DB> (dialect: KyselyDialect, roads: DirectRoads, close: () => Promise<void>): Kysely<DB> {
  const db = new RoadKysely<DB>(dialect, close)
  directRoads.set(db, roads)
  return db
}

export type Tables = Record<string, Record<string, unknown>>

/** A database and what its engine does in its own way. */
export interface Handle {
  readonly db: Kysely<Tables>
  readonly dialect: Dialect
  /** Absent where a transaction, or a Kysely instance of the deployer's own making, has to be asked. */
  readonly direct: DirectRoad | undefined
  /** For an engine that has but one connection. */
  readonly queue?: ConnectionQueue
}

/** A database that was looked at, and the statements for it. */
export interface Engine extends Handle {
  /** Compiled statements by their shape, which clients choose: the least used ones go. */
  readonly shapes: Shapes
  /** Whether {@link deadlineFunction} is there, as on a database that openSqlite opened. */
  readonly hasDeadline: boolean
}

/** SQL function of openSqlite: throws when `performance.now()` has passed its first argument. */
export const deadlineFunction = 'rest_models_before'

/**
 * Looks at a database handle: its engine, and that it does what the plugin relies on.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE with the remedy
 */
export async function openEngine (handle: AnyKysely, role: Role = 'writer'): Promise<Engine> {
  const { dialect: general, ...given } = readHandle(handle, role)
  const { db, direct } = given
  const dialect = direct === undefined ? general : { ...general, storage: general.ownStorage ?? general.storage }
  for (const requirement of dialect.requirements) await requireOf(db, requirement)
  const hasDeadline = dialect.hasFunction !== undefined && Number(await ask(db, dialect.hasFunction(deadlineFunction))) > 0
  return Object.freeze({ ...given, dialect, hasDeadline, shapes: new Shapes() })
}

/** @throws REST_MODELS_UNSUPPORTED_DATABASE with the remedy if something does not hold on a connection that must */
export async function requireOf (db: Kysely<Tables>, { query, remedy }: Requirement): Promise<void> {
  const answer = await ask(db, query)
  if (typeof answer === 'bigint') throw new errors.UnsupportedDatabase("The connection gives integers as BigInt: switch 'defaultSafeIntegers' off")
  if (answer !== 1) throw new errors.UnsupportedDatabase(remedy)
}

/** The handle with tables by name, without the host's Kysely plugins, which would rename columns, its dialect and its connection. */
export function readHandle (handle: AnyKysely, role: Role = 'writer'): Handle {
  // Kysely<T> is invariant in T; the names come from models, so any T will do.
  const given = handle as unknown as Kysely<Tables>
  if (given.getExecutor().plugins.some((plugin) => classNames(plugin).includes('WithSchemaPlugin'))) {
    throw new errors.UnsupportedDatabase("'db' has a schema by withSchema(), which is not supported: name it in the search_path of the connection")
  }
  const db = given.withoutPlugins()
  const { adapter } = db.getExecutor()
  const names = classNames(adapter)
  const dialect = Object.values<Dialect>(dialects).find((row) => names.includes(row.adapter))
  if (dialect === undefined) {
    throw new errors.UnsupportedDatabase(`'db' runs on ${names[0]}; supported: ${Object.keys(dialects).join(', ')}`)
  }
  const direct = directRoads.get(handle)?.[role]
  return dialect.isEmbedded ? { db, dialect, direct, queue: new ConnectionQueue(db.getExecutor()) } : { db, dialect, direct }
}

/** The names of the class of an object and of those that it extends. */
function classNames (instance: object): readonly string[] {
  const parent = Object.getPrototypeOf(instance) as object | null
  return parent === null ? [] : [parent.constructor.name, ...classNames(parent)]
}

async function ask (db: Kysely<Tables>, question: RawBuilder<unknown>): Promise<unknown> {
  const { rows: [row] } = await sql<{ answer: unknown }>`${question}`.execute(db)
  return row?.answer
}
