import Fastify from 'fastify'
import type { Kysely } from 'kysely'
import type { Test } from 'tap'
import restModels, { userAuth } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { checkAnswers } from '../support/answers.js'
import { client } from '../support/site.js'
import { Entry, User } from './site.js'

/** An app of this process on a database, which is closed with it. */
export async function serve (t: Test, db: Kysely<Tables>) {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  app.addHook('onClose', async () => { await db.destroy() })
  await app.register(restModels, { db, defaultAuth: userAuth(User) })
  app.restModels.register(Entry, { ownerField: 'user' })
  await app.restModels.setup()
  return { ...client(app), health: async () => await app.restModels.health() }
}
