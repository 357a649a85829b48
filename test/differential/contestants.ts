import { hash } from '@node-rs/argon2'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import { sql, type Kysely } from 'kysely'
import { randomBytes } from 'node:crypto'
import restModels, {
  adminAuth, createTables, readOnlyAuth, userAuth, type Model, type Policy, type ResourceOptions
} from '../../lib/index.js'
import { openMariadb } from '../../lib/mariadb.js'
import { openPostgres } from '../../lib/postgres.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { checkAnswers } from '../support/answers.js'
import { runSql } from '../support/engines/sql.js'
import { isReference, type Reference, type Request, type Sender, type Template } from './requests.js'
import { idAt, keyAt, type Row } from './rows.js'
import { columnOf, define, users, type ModelSpec, type PolicyName } from './specs.js'
import { stored } from './values.js'

export type EngineName = 'sqlite' | 'postgres' | 'mariadb'

/** A handle on an empty database, and how to be rid of it. */
interface Opened {
  readonly db: Kysely<Tables>
  remove (): Promise<void>
}

const few = { connections: 2 }

/** How an empty database is had on each engine; `server` is a database of PostgreSQL or a server of MariaDB. */
export const openers: Readonly<Record<EngineName, (server: string) => Promise<Opened>>> = {
  sqlite: async () => ({ db: openSqlite(':memory:'), remove: async () => {} }),
  postgres: async (server) => {
    const name = `d${randomBytes(6).toString('hex')}`
    await runSql(server, `create schema ${name}`)
    const url = new URL(server)
    url.searchParams.set('options', `-c search_path=${name}`)
    return {
      db: openPostgres(url.href, few), remove: async () => { await runSql(server, `drop schema ${name} cascade`) }
    }
  },
  mariadb: async (server) => {
    const name = `d${randomBytes(6).toString('hex')}`
    await runSql(server, `create database ${name} character set utf8mb4 collate utf8mb4_general_ci`)
    const url = new URL(server)
    url.pathname = `/${name}`
    return { db: openMariadb(url.href, few), remove: async () => { await runSql(server, `drop database ${name}`) } }
  }
}

/** What an app answered, without what may differ. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const anybody: Policy = {
  open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false
}

/** Passwords cost little here: what a hash has to cost is tested elsewhere. */
const hashes = new Map<string, Promise<string>>()
async function hashOf (password: string): Promise<string> {
  const known = hashes.get(password) ?? hash(password, { memoryCost: 64, timeCost: 1 })
  hashes.set(password, known)
  return await known
}

/** One of the apps that must not differ: random models on one engine. */
export class Contestant {
  readonly name: EngineName
  readonly #models: readonly ModelSpec[]
  readonly #opened: Opened
  readonly #app: FastifyInstance = Fastify()
  #rows: ReadonlyArray<readonly Row[]> = []
  /** The keys that records got, by model, in the order of their creation. */
  readonly #created: Array<Array<number | string>>
  /** The tags that were last seen, by path. */
  readonly #tags = new Map<string, string>()
  /** What the document does not say of an answer. */
  #fault: string | undefined

  constructor (name: EngineName, models: readonly ModelSpec[], opened: Opened) {
    this.name = name
    this.#models = models
    this.#opened = opened
    this.#created = models.map(() => [])
  }

  async prepare (rows: ReadonlyArray<readonly Row[]>): Promise<void> {
    this.#rows = rows
    const models = define(this.#models)
    await createTables(this.#opened.db, models)
    await this.#fill(rows)
    for (const model of this.#models.keys()) await this.skipTo(model, 100)
    // The others answer with the same bytes.
    if (this.name === 'sqlite') {
      await checkAnswers({ fail: (fault) => { this.#fault = fault } }, this.#app, JSON.stringify(this.#models))
    }
    await this.#app.register(restModels, { db: this.#opened.db })
    for (const [index, model] of models.entries()) {
      this.#app.restModels.register(model, optionsOf(this.#models[index] as ModelSpec, this.#models, models))
    }
    await this.#app.restModels.setup()
    await this.#app.ready()
  }

  async close (): Promise<void> {
    await this.#app.close()
    await this.#opened.db.destroy()
    await this.#opened.remove()
  }

  async #fill (rows: ReadonlyArray<readonly Row[]>): Promise<void> {
    const { db } = this.#opened
    for (const [model, { table, fields, key }] of this.#models.entries()) {
      for (const [at, row] of (rows[model] ?? []).entries()) {
        const id = key === 'fields' ? {} : { id: keyAt(this.#models, model, at) }
        const columns = await Promise.all(fields.map(async (field) => {
          const value = row[field.name] ?? null
          if (field.kind === 'foreignKey') {
            return [columnOf(field), isLater(model, at, field.target, value) ? null : this.#keyOf(field.target, value)]
          }
          return [columnOf(field), field.kind === 'password' ? await hashOf(String(value)) : stored(field, value)]
        }))
        await db.insertInto(table).values({ ...id, ...Object.fromEntries(columns) }).execute()
      }
    }
    for (const [model, { table, fields, keyFields }] of this.#models.entries()) {
      for (const [at, row] of (rows[model] ?? []).entries()) {
        const later = fields.filter(({ kind, target, name }) => kind === 'foreignKey' &&
          isLater(model, at, target, row[name] ?? null))
        if (later.length === 0) continue
        const values = Object.fromEntries(
          later.map((field) => [columnOf(field), this.#keyOf(field.target, row[field.name] ?? null)])
        )
        const key = fields.filter(({ name }) => keyFields.includes(name)).map((field) => {
          const value = row[field.name] ?? null
          const isLink = field.kind === 'foreignKey'
          return [columnOf(field), isLink ? this.#keyOf(field.target, value) : stored(field, value)]
        })
        const isRow = key.length > 0 ? Object.fromEntries(key) : { id: keyAt(this.#models, model, at) }
        await db.updateTable(table).set(values).where((where) => where.and(isRow)).execute()
      }
    }
  }

  #keyOf (target: number | undefined, value: unknown): number | string | null {
    return value === null ? null : keyAt(this.#models, target ?? 0, Number(value))
  }

  /** Lets the engine go on counting at a number: a create that is refused costs one on some of them. */
  async skipTo (model: number, number: number): Promise<void> {
    const { db } = this.#opened
    const { table, key } = this.#models[model] as ModelSpec
    if (key !== 'integer') return
    if (this.name === 'postgres') {
      await sql`select setval(pg_get_serial_sequence(${`"${table}"`}, 'id'), ${number}::bigint)`.execute(db)
    } else if (this.name === 'mariadb') {
      await sql`alter table ${sql.table(table)} auto_increment = ${sql.lit(number + 1)}`.execute(db)
    } else {
      await sql`delete from sqlite_sequence where name = ${table}`.execute(db)
      await sql`insert into sqlite_sequence (name, seq) values (${table}, ${number})`.execute(db)
    }
  }

  async send (request: Request): Promise<Answer> {
    const rendered = this.#render(request)
    const reply = await this.#app.inject(rendered)
    if (reply.headers.etag !== undefined) this.#tags.set(String(rendered.url), reply.headers.etag)
    if (this.#fault !== undefined) throw new Error(this.#fault)
    const { date: _date, ...headers } = reply.headers
    if (request.method === 'POST' && reply.statusCode === 201) this.#created[request.model]?.push(reply.json().id)
    const shown = {
      status: reply.statusCode,
      headers: JSON.parse(this.#neutral(JSON.stringify(headers))) as Answer['headers'],
      body: this.#neutral(reply.body)
    }
    return shown
  }

  #render (request: Request): InjectOptions {
    const { method, model, path, query, sender, headers: others, ifMatch, body, isForm = false } = request
    const parameters = typeof query === 'string'
      ? query
      : query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(this.#text(value))}`).join('&')
    const segments = path.map((part) => isReference(part) ? this.#segment(part) : part).join('')
    const url = `/api/${(this.#models[model] as ModelSpec).name.toLowerCase()}${segments}` +
      (parameters === '' ? '' : `?${parameters}`)
    const json = body === undefined || typeof body === 'string' ? body : this.#json(body)
    const payload = json !== undefined && isForm ? `data=${encodeURIComponent(json)}` : json
    const condition = ifMatch?.replace('known', this.#tags.get(url) ?? '"unknown"')
    const headers = { ...credentials[sender], ...others, ...(condition !== undefined && { 'if-match': condition }) }
    return { method, url, headers, ...(payload !== undefined && { payload }) }
  }

  #text (template: Template): string {
    return template.map((part) => typeof part === 'string' ? part : String(this.#resolve(part))).join('')
  }

  /** JSON in which -0 and what overflows are written as a client could write them. */
  #json (body: ReadonlyArray<readonly [name: string, value: unknown]>): string {
    const properties = body.map(([name, value]) =>
      `${JSON.stringify(name)}:${write(isReference(value) ? this.#resolve(value) : value)}`)
    return `{${properties.join(',')}}`
  }

  #resolve ({ model, at, isQuoted = false }: Reference): number | string {
    const created = this.#created[model] ?? []
    const key = (at < 0 ? created[(-at - 1) % created.length] : undefined) ??
      idAt(this.#models, this.#rows, { model, at: at < 0 ? 1000 : at })
    return isQuoted ? `"${String(key).replaceAll('"', '""')}"` : key
  }

  /** The part of a path that leads to a record. The values in an id of several are percent-encoded already. */
  #segment (reference: Reference): string {
    const key = String(this.#resolve(reference))
    return this.#models[reference.model]?.key === 'fields' ? key : encodeURIComponent(key)
  }

  /** A text in which what the plugin made up stands by the order in which it came. */
  #neutral (text: string): string {
    let neutral = text.replace(/\$argon2id\$[^"]+/g, 'argon2id')
    for (const [model, keys] of this.#created.entries()) {
      for (const [index, key] of keys.entries()) {
        if (typeof key !== 'string' || this.#models[model]?.key !== 'uuid') continue
        neutral = neutral.replaceAll(key, `created-${model}-${index}`)
          .replaceAll(key.toUpperCase(), `CREATED-${model}-${index}`)
      }
    }
    return neutral
  }
}

/** Rows are inserted model by model, so a reference may have to wait for what it refers to. */
const isLater = (model: number, at: number, target: number | undefined, value: unknown): boolean =>
  value !== null && (Number(target) > model || (target === model && Number(value) >= at))

function write (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (Object.is(value, -0)) return '-0'
  if (value === Infinity) return '1e400'
  if (value === -Infinity) return '-1e400'
  return JSON.stringify(value)
}

const basic = (name: string, password: string): { authorization: string } =>
  ({ authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` })

const credentials: Readonly<Record<Sender, Readonly<Record<string, string>>>> = {
  nobody: {},
  admin: basic('admin', 'admin'),
  alice: basic('alice', 'alice'),
  bob: basic('bob', 'bob'),
  carol: basic('carol', 'carol'),
  stranger: basic('ALICE', 'alice'),
  impostor: basic('alice', 'bob'),
  garbled: { authorization: 'Basic !' }
}

/** True if records hold nothing that the plugin makes up, so that engines give them the same tags. */
function isReproducible ({ key, fields, exclude }: ModelSpec, specs: readonly ModelSpec[]): boolean {
  return key !== 'uuid' && fields.every(({ name, kind, target = -1 }) =>
    exclude.includes(name) || (kind !== 'password' && specs[target]?.key !== 'uuid'))
}

function optionsOf (spec: ModelSpec, specs: readonly ModelSpec[], models: readonly Model[]): ResourceOptions {
  const { policy, exclude, readOnly, filterable, search, owner, defaultLimit, maxLimit } = spec
  const options = {
    auth: policyOf(policy, models[users] as Model),
    exclude,
    readOnly,
    filterable,
    defaultLimit,
    maxLimit,
    ...(search.length > 0 && { search }),
    etag: isReproducible(spec, specs),
    ...(owner !== undefined && { ownerField: owner })
  }
  return options as ResourceOptions
}

function policyOf (name: PolicyName, model: Model): Policy {
  if (name === 'anybody') return anybody
  if (name === 'readOnly') return readOnlyAuth()
  return name === 'admin' ? adminAuth(model) : userAuth(model, { protect: name === 'userAll' ? 'all' : 'writes' })
}
