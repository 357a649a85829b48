// What a user of the package writes in TypeScript; check-package.sh compiles it against the packed files.
import Fastify from 'fastify'
import restModels, {
  adminAuth, boolean, createTables, datetime, defineModel, foreignKey, password, readOnlyAuth, text, userAuth
} from 'fastify-rest-models'
import type { CreateOf, DatabaseOf, RecordOf, UpdateOf } from 'fastify-rest-models'
import { createClient } from 'fastify-rest-models/client'
import { MariadbDialect, openMariadb } from 'fastify-rest-models/mariadb'
import { openPostgres } from 'fastify-rest-models/postgres'
import { openSqlite } from 'fastify-rest-models/sqlite'
import { inspect, introspect, type Introspection } from 'fastify-rest-models/tools'
import type { Kysely } from 'kysely'

const User = defineModel('User', {
  username: text({ unique: true }),
  password: password(),
  email: text(),
  active: boolean({ default: true }),
  admin: boolean({ default: false })
})
const Message = defineModel('Message', {
  user: foreignKey(() => User), content: text(), pub_date: datetime({ default: 'now' })
})

type Tables = DatabaseOf<[typeof User, typeof Message], 'postgres'>
export const handles = [
  openPostgres<Tables>('postgres://localhost/site', { connections: 5 }), openMariadb('mariadb://a,b/site'),
  MariadbDialect
]

const db = openSqlite(':memory:')
await createTables(db, [User, Message])

const app = Fastify()
await app.register(restModels, { db, defaultAuth: userAuth(User) })
app.restModels.register(User, { auth: adminAuth(User), exclude: ['password', 'email'] })
app.restModels.register(Message, { ownerField: 'user' })
// @ts-expect-error a field that the model does not have
app.restModels.register(Message, { auth: readOnlyAuth(), exclude: ['nothing'] })
await app.restModels.setup()
export const found: Introspection = await introspect(db)
export const { dangers } = await inspect(app)

export const record: RecordOf<typeof Message> = { id: 1, user_id: 2, content: 'hi', pub_date: '2026-01-01 00:00:00' }
export const create: Pick<CreateOf<typeof Message>, 'content'> = { content: 'hi' }
export const update: UpdateOf<typeof Message> = {}
// @ts-expect-error an id is a number
export const wrong: RecordOf<typeof Message>['id'] = '1'

export async function contents (tables: Kysely<DatabaseOf<[typeof User, typeof Message]>>): Promise<string[]> {
  const rows = await tables.selectFrom('message').select('content').execute()
  return rows.map((row) => row.content)
}

const client = createClient<[typeof User, typeof Message]>({
  baseUrl: 'http://127.0.0.1', fetch, username: 'alice', password: 'alice'
})
for await (const message of client.message.list({ user__username__like: 'a%', ordering: '-pub_date' }, {
  signal: AbortSignal.timeout(1000)
})) {
  await client.message.update(message.id, { content: message.content })
}
// @ts-expect-error a field that the model does not have
await client.message.list({ nothing: 1 })
