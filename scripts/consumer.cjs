// What a user of the package writes in CommonJS; check-package.sh runs it against the packed files.
const Fastify = require('fastify')
const { default: restModels, createTables, defineModel, text } = require('fastify-rest-models')
const { openSqlite } = require('fastify-rest-models/sqlite')

const Note = defineModel('Note', { message: text({ default: 'hello' }) })

async function main () {
  const db = openSqlite(':memory:')
  const app = Fastify()
  await createTables(db, [Note])
  await db.insertInto('note').defaultValues().execute()
  await app.register(restModels, { db })
  app.restModels.register(Note)
  await app.restModels.setup()
  const { objects } = (await app.inject('/api/note/')).json()
  await app.close()
  await db.destroy()
  if (objects[0].message !== 'hello') throw new Error('The note is not in the list')
}

main()
