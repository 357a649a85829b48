import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import restModels, { adminAuth, createTables, userAuth } from 'fastify-rest-models'
import { openDatabase, type SiteDatabase } from './database.js'
import { addDocumentation } from './documentation.js'
import { drainOnClose } from './drain.js'
import { Message, models, Note, Relationship, User } from './models.js'
import { accounts, seed, toLine } from './seed.js'

const description = `
Write your first message: **Authorize** as \`alice\` with the password \`alice\`, open **POST /api/message/**, and **Execute**.
Then **GET /api/message/** lists it. Changing one of bob's messages is 403.

Each account's password is its name: ${toLine(accounts)}. Reading needs no account.
`

/** Builds the site on the database of a URL. A new database gets tables and data. It is closed together with the app. */
export async function buildSite (databaseUrl: string, options: FastifyServerOptions = {}): Promise<FastifyInstance> {
  const db = await openDatabase(databaseUrl)
  await createTables(db, models)
  if (await isEmpty(db)) await seedOnce(db)

  const app = Fastify(options)
  drainOnClose(app)
  app.addHook('onClose', async () => await db.destroy())
  await addDocumentation(app, { title: 'The example site', description })
  await app.register(restModels, { db })
  app.restModels.register(User, { auth: adminAuth(User), exclude: ['password', 'email'] })
  app.restModels.register(Relationship, { auth: userAuth(User), ownerField: 'from_user' })
  app.restModels.register(Message, { auth: userAuth(User), ownerField: 'user' })
  app.restModels.register(Note)
  await app.restModels.setup()
  return app
}

/** Fills the database. If several processes start at the same moment, only one succeeds. */
async function seedOnce (db: SiteDatabase): Promise<void> {
  try {
    await seed(db)
  } catch (error) {
    if (await isEmpty(db)) throw error
  }
}

async function isEmpty (db: SiteDatabase): Promise<boolean> {
  return await db.selectFrom('user').select('id').limit(1).executeTakeFirst() === undefined
}
