import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import { CompiledQuery, sql, type Kysely } from 'kysely'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import restModels, {
  createTables, hostAuth, openAuth, type Identity, type Model, type ResourceOptions
} from '../../../lib/index.js'
import type { Tables } from '../../../lib/engines/executor.js'
import { emptyDatabase, engine, openUrl } from '../../support/database.js'
import { beforeStatements } from '../../support/interleaving.js'
import { kindModel } from '../kinds.js'
import type { Change } from './leaving.js'
import { toObject, type World } from './scopes.js'
import {
  define, type FieldSpec, type PolicyName, type ResourceSpec, type Row, type Rows, type Sender
} from './specs.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

interface User extends Identity { readonly number: 0 | 1 | 2 }

const kHeader = 'x-user'

type FindUser = (request: { readonly headers: Readonly<Record<string, unknown>> }) => User | null

const findUser: FindUser = ({ headers: { [kHeader]: number } }) =>
  typeof number === 'string' ? { id: Number(number) + 1, number: Number(number) as User['number'] } : null
const findOthers: FindUser = (request) => findUser(request)
const scheme = { type: 'apiKey', in: 'header', name: kHeader } as const

const policies: Readonly<Record<PolicyName, unknown>> = {
  all: hostAuth<User>(findUser, { protect: 'all', scheme }),
  writes: hostAuth<User>(findUser, { scheme }),
  foreign: hostAuth<User>(findOthers, { protect: 'all', scheme }),
  open: openAuth()
}

/** Statements that switch the check of references off and on, on one connection. */
const checks = {
  sqlite: ['pragma foreign_keys = off', 'pragma foreign_keys = on'],
  postgres: ['set session_replication_role = replica', 'set session_replication_role = origin'],
  mariadb: ['set foreign_key_checks = 0', 'set foreign_key_checks = 1']
}[engine] as [string, string]

/** An app with the resources of a world, with or without their scopes, on a database of its own. */
export class Twin {
  readonly app: FastifyInstance = Fastify()
  readonly db: Kysely<Tables>
  readonly #world: World
  readonly #models: readonly Model[]
  readonly #remove: () => Promise<void>
  #failure = ''
  /** All rows, as far as they are known. */
  #rows: Rows | undefined
  #pending: { statements: number, readonly query: CompiledQuery } | undefined
  readonly #teardowns: Array<() => unknown> = []

  private constructor (world: World, db: Kysely<Tables>, remove: () => Promise<void>) {
    this.#world = world
    this.#models = define(world.models)
    this.db = db
    this.#remove = remove
  }

  static async build (world: World, isScoped: boolean): Promise<Twin> {
    const { open, url, remove } = await emptyDatabase()
    const twin = new Twin(world, engine === 'sqlite' ? open() : openUrl(url, { connections: 2 }), remove)
    twin.app.addHook('onError', async (_request, _reply, error) => {
      twin.#failure = `${error.stack}, because of ${String((error.cause as Error | undefined)?.stack)}`
    })
    await createTables(twin.db, twin.#models)
    await twin.app.register(restModels, { db: twin.db })
    const { restModels: registry } = twin.app
    for (const resource of world.resources) {
      registry.register(twin.#models[resource.model] as Model, optionsOf(resource, isScoped))
    }
    // For the test to look at everything.
    for (const model of twin.#models) {
      registry.register(model, { path: `whole-${model.name.toLowerCase()}`, auth: openAuth() })
    }
    await registry.setup()
    await twin.app.ready()
    if (isScoped && engine === 'sqlite') await twin.#interleave()
    return twin
  }

  async #interleave (): Promise<void> {
    const t = { teardown: (act: () => unknown) => { this.#teardowns.push(act) } } as Test
    await beforeStatements(t, this.db, async (_sql, execute) => {
      if (this.#pending !== undefined && --this.#pending.statements === 0) await execute(this.#pending.query)
    })
  }

  async close (): Promise<void> {
    for (const act of this.#teardowns) act()
    await this.app.close()
    await this.db.destroy()
    await this.#remove()
  }

  /** Replaces all rows, some of whose references may lead nowhere. */
  async fill (rows: Rows): Promise<void> {
    const [off, on] = checks
    const others = [...this.#world.models.entries()].filter(([at]) => !isDeepStrictEqual(this.#rows?.[at], rows[at]))
    this.#rows = rows
    if (others.length === 0) return
    await this.db.connection().execute(async (connection) => {
      await connection.executeQuery(CompiledQuery.raw(off))
      for (const [at, { name, fields }] of others) {
        const table = name.toLowerCase()
        await connection.deleteFrom(table).execute()
        const stored = (rows[at] ?? []).map((row) => ({ id: row['id'], ...toStored(fields, row) }))
        if (stored.length > 0) await connection.insertInto(table).values(stored).execute()
      }
      await connection.executeQuery(CompiledQuery.raw(on))
    })
  }

  /** All rows, as a resource without a scope shows them. */
  async rows (): Promise<Rows> {
    this.#rows ??= await Promise.all(this.#models.map(async ({ name }) => {
      const reply = await this.app.inject(`/api/whole-${name.toLowerCase()}/?limit=100`)
      return reply.json<{ objects: Row[] }>().objects
    }))
    return this.#rows
  }

  /** Changes one row past the API. */
  change (model: number, row: Row): CompiledQuery {
    const { name, fields } = this.#world.models[model] as World['models'][number]
    return this.db.updateTable(name.toLowerCase()).set(toStored(fields, row)).where('id', '=', row['id']).compile()
  }

  /** Lets a row change between the first and the second statement of the next request. Returns whether it did. */
  changeBeforeSecond ({ model, row }: Change): () => boolean {
    const pending = { statements: 2, query: this.change(model, row) }
    this.#pending = pending
    return () => {
      this.#pending = undefined
      return pending.statements <= 0
    }
  }

  /** Lets the keys of a model go on behind a number, so that two databases make the same. */
  async skipTo (model: number, number: number): Promise<void> {
    const { name, hasUuidKey } = this.#world.models[model] as World['models'][number]
    const table = name.toLowerCase()
    if (hasUuidKey) return
    if (engine === 'postgres') {
      await sql`select setval(pg_get_serial_sequence(${`"${table}"`}, 'id'), ${number}::bigint)`.execute(this.db)
    } else if (engine === 'mariadb') {
      await sql`alter table ${sql.table(table)} auto_increment = ${sql.lit(number + 1)}`.execute(this.db)
    } else {
      await sql`delete from sqlite_sequence where name = ${table}`.execute(this.db)
      await sql`insert into sqlite_sequence (name, seq) values (${table}, ${number})`.execute(this.db)
    }
  }

  async send (sender: Sender, request: InjectOptions): Promise<Answer> {
    const headers = { ...(sender !== 'nobody' && { [kHeader]: String(sender) }), ...request.headers }
    const reply = await this.app.inject({ ...request, headers })
    if (request.method !== 'GET' && request.method !== 'HEAD') this.#rows = undefined
    if (reply.statusCode >= 500) throw new Error(`answered ${reply.statusCode}: ${this.#failure}`)
    const { date: _date, ...others } = reply.headers
    return { status: reply.statusCode, headers: others, body: reply.body }
  }
}

function toStored (fields: readonly FieldSpec[], row: Row): Record<string, unknown> {
  return Object.fromEntries(fields.map(({ key, kind }) => {
    const value = row[key] ?? null
    return [key, value === null || kind === 'foreignKey' || kind === 'id' ? value : kindModel(kind).stored(value)]
  }))
}

function optionsOf (resource: ResourceSpec, isScoped: boolean): ResourceOptions {
  const { path, policy, exclude, owner, search, scopes } = resource
  const options = {
    path,
    auth: policies[policy],
    exclude,
    ...(owner && { ownerField: owner.name }),
    ...(search.length > 0 && { search }),
    ...(isScoped && scopes && {
      scope: (user: User | null) => toObject(scopes.get(user?.number ?? 'nobody') ?? null)
    })
  }
  return options as unknown as ResourceOptions
}
