import Fastify, { type FastifyInstance } from 'fastify'
import { sql, type Kysely } from 'kysely'
import restModels, {
  createTables, defineModel, foreignKey, text, userAuth, uuid, type Model, type ResourceRegistry
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { checkAnswers, type Documented } from '../support/answers.js'
import { waitFor } from '../support/engines/wait-for.js'
import { Message, Note, registerSite, Relationship, siteUsers, User, type Rows } from '../support/site.js'
import { Paper, paperRows, Shelf } from '../properties/bodies.js'
import type { FuzzedDatabase, FuzzedEngine } from './database.js'

/** A model that no resource serves. */
const Vault = defineModel('Vault', { code: text() })
const Label = defineModel('Label', { id: uuid(), word: text({ unique: true }) })
const Card = defineModel('Card', {
  owner: foreignKey(() => User),
  vault: foreignKey(() => Vault),
  label: foreignKey(() => Label, { nullable: true }),
  word: text()
})
/** Those that others refer to come first. */
const models: readonly Model[] = [User, Relationship, Message, Note, Shelf, Paper, Vault, Label, Card]

const everybody = {
  open: ['list', 'read', 'create', 'update', 'delete'] as const,
  authenticator: () => async () => null,
  permits: () => false
}

function register (registry: ResourceRegistry): void {
  registerSite(registry)
  registry
    .register(Shelf, { auth: everybody, etag: true })
    .register(Paper, {
      auth: userAuth(User),
      ownerField: 'owner',
      readOnly: ['stamp'],
      exclude: ['mail', 'ratio', 'data', 'word'],
      search: ['title', 'status']
    })
    .register(Label, { auth: userAuth(User), search: ['word'], etag: true })
    .register(Card, { auth: userAuth(User), ownerField: 'owner', search: ['word'] })
}

/** Stands in hidden columns alone, and in no request. */
export const marker = 'zq7-marker-zq7'
const markedNumber = 731057325.25
/** What no answer may hold: the marks, and stored hashes of passwords. */
export const secrets: readonly string[] = [marker, String(markedNumber), '$argon2']

/** Names of hidden fields, and of what a request may not reach through foreign keys. */
export const hiddenNames = [
  'password', 'email', 'password__like', 'email__like', 'user__password__like', 'user__email', 'from_user__password',
  'to_user__email__ilike', 'mail', 'ratio__gt', 'data', 'word__is', 'vault__code',
  'vault__code__like', 'owner__password', 'owner__email__in'
] as const

/** Who sends the requests of a batch, and the owner's id of what that changes. */
export const callers = { nobody: 0, admin: 1, alice: 2, bob: 3 } as const
export type Caller = keyof typeof callers

/**
 * Which column of a table says whose a row is; `free` is for everybody, `user` for every user, `admin` for admins,
 * `nobody` for nobody.
 */
const ownership: Readonly<Record<string, { readonly owner: string } | 'free' | 'user' | 'admin' | 'nobody'>> = {
  user: 'admin',
  relationship: { owner: 'from_user_id' },
  message: { owner: 'user_id' },
  note: 'nobody',
  shelf: 'free',
  paper: { owner: 'owner_id' },
  vault: 'nobody',
  label: 'user',
  card: { owner: 'owner_id' }
}

const labels = ['0f8fad5b-d9cb-469f-a165-70867728950e', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
/** Keys of records that are there. */
export const keys = ['1', '2', '3', '4', '5', ...labels] as const

async function seedRows (): Promise<Rows> {
  const users = (await siteUsers()) ?? []
  const dora = {
    id: 5, username: 'dora', password: marker, email: marker, join_date: '2024-01-05 10:00:00', active: 1, admin: 0
  }
  const byEach = [1, 2, 3, 4, 5]
  return {
    user: [...users.map((user) => ({ ...user, email: `${String(user['username'])}@${marker}` })), dora],
    relationship: byEach.map((id) => ({ id, from_user_id: id, to_user_id: id % 5 + 1 })),
    message: byEach.map((id) => ({ id, user_id: id, content: `by ${id}`, pub_date: '2024-02-01 10:00:00' })),
    note: byEach.map((id) => ({ id, message: `note ${id}`, created: '2024-03-01 10:00:00' })),
    shelf: [...paperRows.shelf],
    paper: byEach.map((id) => ({
      ...paperRows.paper[0],
      id,
      owner_id: id,
      mail: `a@${marker}.example`,
      ratio: markedNumber,
      data: JSON.stringify({ [marker]: marker }),
      word: marker,
      token: null
    })),
    vault: [{ id: 1, code: marker }, { id: 2, code: marker }],
    label: labels.map((id, index) => ({ id, word: `label ${index}` })),
    card: byEach.map((id) => ({ id, owner_id: id, vault_id: 1, label_id: labels[0] ?? '', word: `card ${id}` }))
  }
}

export interface FuzzedSite {
  readonly app: FastifyInstance
  readonly document: Documented
  /** Answers that the document does not declare, since the last call of `reset`. */
  readonly undeclared: string[]
  /** Makes all rows what they were at first. */
  reset (): Promise<void>
  /** Waits until no request is worked on any more, that of a connection which is closed included. */
  idle (): Promise<void>
  /** Rows that a caller has no right to change, as they are. */
  rowsBeyond (caller: Caller): Promise<unknown>
  close (): Promise<void>
}

/** Five users and what belongs to each, with secrets in what is hidden, in an empty database. */
export async function openSite ({ db, engine, drop }: FuzzedDatabase): Promise<FuzzedSite> {
  const undeclared: string[] = []
  await createTables(db, models)
  await countFrom(db, engine, 1000)
  const app = Fastify()
  await checkAnswers({ fail: (message) => undeclared.push(message) }, app, `fuzz ${engine}`)
  const running = watch(app)
  await app.register(restModels, { db })
  register(app.restModels)
  await app.restModels.setup()
  await app.listen({ port: 0, host: '127.0.0.1' })
  const rows = await seedRows()
  return {
    app,
    document: app.documented(),
    undeclared,
    reset: async () => {
      undeclared.length = 0
      for (const { table } of models.toReversed()) await db.deleteFrom(table).execute()
      for (const { table } of models) await db.insertInto(table).values([...rows[table] ?? []]).execute()
    },
    idle: async () => { await waitFor('all requests are finished', async () => running.size === 0) },
    rowsBeyond: async (caller) => Object.fromEntries(
      await Promise.all(models.map(async ({ table }) => [table, await rowsBeyond(db, table, caller)] as const))
    ),
    close: async () => {
      await app.close()
      await db.destroy()
      await drop()
    }
  }
}

/** The requests that are worked on. */
function watch (app: FastifyInstance): ReadonlySet<unknown> {
  const running = new Set<unknown>()
  app.addHook('onRequest', async (request) => { running.add(request.raw) })
  app.addHook('onSend', async (request) => { running.delete(request.raw) })
  app.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = async function (request, reply) {
      try {
        return await handler.call(this, request, reply)
      } finally {
        // Without an answer, which nobody waits for any more, there is nothing to send.
        running.delete(request.raw)
      }
    }
  })
  return running
}

/** Lets PostgreSQL, which does not look at keys that are written by hand, give out others than those. */
async function countFrom (db: Kysely<Tables>, engine: FuzzedEngine, next: number): Promise<void> {
  if (engine !== 'postgres') return
  for (const { table } of models.filter((model) => model !== Label)) {
    await sql`select setval(pg_get_serial_sequence(${`"${table}"`}, 'id'), ${next})`.execute(db)
  }
}

async function rowsBeyond (db: Kysely<Tables>, table: string, caller: Caller): Promise<readonly unknown[]> {
  const whose = ownership[table]
  if (whose === undefined) throw new Error(`It is not said whose the rows of ${table} are`)
  const rows = db.selectFrom(table).selectAll().orderBy('id')
  if (typeof whose === 'object') return await rows.where(whose.owner, '!=', callers[caller]).execute()
  const isOpen = whose === 'free' || (whose === 'user' && caller !== 'nobody') ||
    (whose === 'admin' && caller === 'admin')
  return isOpen ? [] : await rows.execute()
}
