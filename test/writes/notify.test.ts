// @servers: notifications are those of PostgreSQL

import Fastify from 'fastify'
import { sql } from 'kysely'
import { Client } from 'pg'
import { test } from 'tap'
import restModels, { createTables, defineModel, openAuth, text } from '../../lib/index.js'
import { emptyDatabase, engine } from '../support/database.js'
import { waitFor } from '../support/engines/wait-for.js'

const Item = defineModel('Item', { name: text() })

test('D-157: a notification is heard after the commit, and never of a write that failed', {
  skip: engine !== 'postgres' && 'of PostgreSQL'
}, async (t) => {
  const { url, open, remove } = await emptyDatabase()
  const db = open()
  await createTables(db, [Item])
  const app = Fastify()
  const listener = new Client({ connectionString: url })
  t.teardown(async () => {
    await listener.end()
    await app.close()
    await db.destroy()
    await remove()
  })
  await app.register(restModels, { db })
  app.restModels.register(Item, {
    auth: openAuth(),
    afterWrite: async ({ record, db }) => {
      await sql`select pg_notify('item', ${record.name})`.execute(db)
      if (record.name === 'failed') throw new Error('too late')
    }
  })
  await app.restModels.setup()
  await listener.connect()
  await listener.query('listen item')
  const heard: unknown[] = []
  listener.on('notification', ({ payload }) => heard.push(payload))
  const post = async (name: string) => (await app.inject({ method: 'POST', url: '/api/item/', payload: { name } }))
  t.equal((await post('failed')).statusCode, 500)
  t.equal((await post('stored')).statusCode, 201)
  await waitFor('it is heard', async () => heard.length > 0)
  t.same(heard, ['stored'])
})
