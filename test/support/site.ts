import { hash, type Options } from '@node-rs/argon2'
import Fastify, {
  type FastifyInstance, type FastifyServerOptions, type InjectOptions, type LightMyRequestResponse
} from 'fastify'
import type { CompiledQuery, Kysely } from 'kysely'
import type { Test } from 'tap'
import restModels, {
  adminAuth, boolean, createTables, datetime, defineModel, foreignKey, password, text, userAuth,
  type Model, type ResourceRegistry, type RestModelsOptions
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { checkAnswers } from './answers.js'
import { openDatabase, recordStatements, skipKeys } from './database.js'

/** The models of the service document's example project. */
export const User = defineModel('User', {
  username: text({ unique: true }),
  password: password(),
  email: text(),
  join_date: datetime({ default: 'now' }),
  active: boolean({ default: true }),
  admin: boolean({ default: false })
})
export const Relationship = defineModel('Relationship', {
  from_user: foreignKey(() => User), to_user: foreignKey(() => User)
})
export const Message = defineModel('Message', {
  user: foreignKey(() => User), content: text(), pub_date: datetime({ default: 'now' })
})
export const Note = defineModel('Note', { message: text(), created: datetime({ default: 'now' }) })

export const siteModels: readonly Model[] = [User, Relationship, Message, Note]

type RowValue = string | number | bigint | null
/** Rows to insert, by table name; keys are column names, values as the engine stores them. */
export type Rows = Readonly<Record<string, ReadonlyArray<Readonly<Record<string, RowValue>>>>>

/** The least that argon2id can cost: a login takes 0.1 ms in place of 16. */
const leastCost: Options = { memoryCost: 8, timeCost: 1, parallelism: 1 }

const hashes = new Map<string, string>()
async function hashOf (password: string, cost: Options): Promise<string> {
  const name = JSON.stringify([password, cost])
  const known = hashes.get(name) ?? await hash(password, cost)
  hashes.set(name, known)
  return known
}

/** `admin` (id 1, an admin), `alice` (2), `bob` (3) and `carol` (4, not active); each one's password is the name. */
export async function siteUsers (cost: Options = leastCost): Promise<Rows[string]> {
  return await Promise.all(['admin', 'alice', 'bob', 'carol'].map(async (name, index) => ({
    id: index + 1,
    username: name,
    password: await hashOf(name, cost),
    email: `${name}@example.com`,
    join_date: `2024-01-0${index + 1} 10:00:00`,
    active: name === 'carol' ? 0 : 1,
    admin: name === 'admin' ? 1 : 0
  })))
}

/** How the example project exposes its models. */
export function registerSite (registry: ResourceRegistry): void {
  registry.register(User, { auth: adminAuth(User), exclude: ['password', 'email'] })
  registry.register(Relationship, { auth: userAuth(User), ownerField: 'from_user' })
  registry.register(Message, { auth: userAuth(User), ownerField: 'user' })
  registry.register(Note)
}

export interface BuildOptions {
  /** Models whose tables are made; the example project's if absent. */
  readonly models?: readonly Model[]
  /** Registers resources; the example project's if absent. */
  readonly register?: (registry: ResourceRegistry) => void
  /** Rows beside the four users, which are there whenever there is a `user` table. */
  readonly rows?: Rows
  /**
   * The passwords of the four users are hashed as the plugin hashes, for tests of what a login costs; else a login
   * costs next to nothing.
   */
  readonly realHashes?: boolean
  readonly options?: Partial<RestModelsOptions>
  readonly server?: FastifyServerOptions
  /** Called with the app and its database before the plugin is registered. */
  readonly prepare?: (app: FastifyInstance, db: Kysely<Tables>) => void | Promise<void>
  /** Why answers are not compared with the app's OpenAPI document; they are if absent. */
  readonly undocumented?: string
}

export interface TestApp {
  readonly app: FastifyInstance
  readonly db: Kysely<Tables>
  /** SQL of every statement since the last call of `forget`, with its parameters. */
  readonly statements: CompiledQuery[]
  forget (): void
  get (url: string, options?: RequestOptions): Promise<LightMyRequestResponse>
  post (url: string, payload?: unknown, options?: RequestOptions): Promise<LightMyRequestResponse>
  put (url: string, payload?: unknown, options?: RequestOptions): Promise<LightMyRequestResponse>
  patch (url: string, payload?: unknown, options?: RequestOptions): Promise<LightMyRequestResponse>
  delete (url: string, options?: RequestOptions): Promise<LightMyRequestResponse>
  /** All rows of a table, by id. */
  rowsOf (table: string): Promise<unknown[]>
}

export interface RequestOptions {
  /** Name of a user of the site, whose password is the name; or a name and a password. */
  readonly as?: string | readonly [username: string, password: string]
  readonly headers?: Record<string, string>
}

export function basic (username: string, password = username): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** Returns an app on a new database with the given rows. Both are removed when the test ends. */
export async function buildApp (t: Test, options: BuildOptions = {}): Promise<TestApp> {
  const { models = siteModels, register = registerSite, rows = {}, realHashes = false } = options
  const app = Fastify(options.server)
  const db = await openDatabase(t)
  t.teardown(async () => { await app.close() })
  await createTables(db, models)
  if (models.includes(User)) await insert(db, { user: await siteUsers(realHashes ? {} : leastCost) })
  await insert(db, rows)
  await options.prepare?.(app, db)
  if (options.undocumented === undefined) await checkAnswers(t, app, isSite(options) ? 'site' : undefined)
  const statements = await recordStatements(t, db)
  await app.register(restModels, { db, ...options.options })
  register(app.restModels)
  await app.restModels.setup()
  await app.ready()
  statements.length = 0
  return {
    app,
    db,
    statements,
    forget: () => { statements.length = 0 },
    ...client(app),
    rowsOf: async (table) => (await db.selectFrom(table).selectAll().orderBy('id').execute()).map(withBits)
  }
}

/** Whether an app is that of the example project, with other rows at most. */
function isSite ({ rows: _rows, ...others }: BuildOptions): boolean {
  return Object.keys(others).length === 0
}

/** A row in which booleans are 0 and 1, whatever the engine gives. */
function withBits (row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row)
    .map(([name, value]) => [name, typeof value === 'boolean' ? Number(value) : value]))
}

export async function insert (db: Kysely<Tables>, rows: Rows): Promise<void> {
  for (const [table, records] of Object.entries(rows)) {
    for (const record of records) await db.insertInto(table).values(record).execute()
    if (records.some((record) => typeof record['id'] === 'number')) await skipKeys(db, table)
  }
}

/** Requests to an app, in the words of the tests. */
export function client (app: FastifyInstance): Pick<TestApp, 'get' | 'post' | 'put' | 'patch' | 'delete'> {
  const send = async (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string,
    { as, headers }: RequestOptions = {}, payload?: unknown
  ) => {
    const credentials = as === undefined ? {} : { authorization: typeof as === 'string' ? basic(as) : basic(...as) }
    const request: InjectOptions = { method, url, headers: { ...credentials, ...headers } }
    return await app.inject(payload === undefined ? request : { ...request, payload: payload as string })
  }
  return {
    get: async (url, options) => await send('GET', url, options),
    post: async (url, payload, options) => await send('POST', url, options, payload),
    put: async (url, payload, options) => await send('PUT', url, options, payload),
    patch: async (url, payload, options) => await send('PATCH', url, options, payload),
    delete: async (url, options) => await send('DELETE', url, options)
  }
}

/** The value of one key in each record of a list. */
export function valuesOf (reply: LightMyRequestResponse, key: string): unknown[] {
  return reply.json<{ objects: Array<Record<string, unknown>> }>().objects.map((record) => record[key])
}
