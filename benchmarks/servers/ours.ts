import Fastify from 'fastify'
import restModels, { adminAuth, hostAuth, userAuth, type ClosedPolicy, type Identity, type Operation, type Policy, type ResourceOptions } from 'fastify-rest-models'
import { Comment, Message, User } from '../site/models.js'
import { openDatabase } from './open-database.js'
import { readArguments, serve, type PolicyName } from './serve.js'

const everything: readonly Operation[] = ['list', 'read', 'create', 'update', 'delete']
const anybody: Policy = { open: everything, authenticator: () => async () => null, permits: () => false }

/** The login of a host that names the user in a header. */
const host = hostAuth(({ headers }) => ({ id: Number(headers['x-user']) }), { protect: 'all' })
const scoped: ResourceOptions<typeof Message, ClosedPolicy<Identity & { readonly id: number }>> = { auth: host, scope: ({ id }) => ({ user: id }) }

const guards: Readonly<Record<Exclude<PolicyName, 'scoped'>, ResourceOptions<typeof Message>>> = {
  open: { auth: anybody },
  basic: { auth: userAuth(User) },
  owner: { auth: userAuth(User), ownerField: 'user' },
  tagged: { auth: anybody, etag: true },
  related: { auth: anybody },
  outbox: {
    auth: anybody,
    afterWrite: async ({ record, db }) => {
      await db.insertInto('outbox').values({ topic: 'message', body: JSON.stringify(record) }).execute()
    }
  }
}

const { database, policy, durability } = readArguments()
const app = Fastify()
await app.register(restModels, { db: await openDatabase(database, durability) })
app.restModels.register(User, { auth: policy === 'related' ? anybody : adminAuth(User), exclude: ['password', 'email'] })
if (policy === 'related') app.restModels.register(Comment, { auth: anybody })
if (policy === 'scoped') app.restModels.register(Message, scoped)
else app.restModels.register(Message, guards[policy])
await app.restModels.setup()
await serve(app)
