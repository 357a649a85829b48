// @once: about the packages of one process, which uses SQLite
// @long: starts processes that list what they load

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { test } from 'tap'

/** The built example without its documentation. It prints the files that were loaded until it answered a list. */
const program = `
  import { Session } from 'node:inspector'
  const files = []
  const session = new Session()
  session.connect()
  session.on('Debugger.scriptParsed', ({ params }) => files.push(params.url))
  session.post('Debugger.enable')

  const { default: Fastify } = await import('fastify')
  const { default: restModels, adminAuth, createTables, userAuth } = await import('fastify-rest-models')
  const { openDatabase } = await import('./dist/examples/site/database.js')
  const { seed } = await import('./dist/examples/site/seed.js')
  const { Message, models, Note, Relationship, User } = await import('./dist/examples/site/models.js')

  const db = await openDatabase('sqlite::memory:')
  await createTables(db, models)
  await seed(db)
  const app = Fastify()
  await app.register(restModels, { db })
  app.restModels.register(User, { auth: adminAuth(User), exclude: ['password', 'email'] })
  app.restModels.register(Relationship, { auth: userAuth(User), ownerField: 'from_user' })
  app.restModels.register(Message, { auth: userAuth(User), ownerField: 'user' })
  app.restModels.register(Note)
  await app.restModels.setup()
  const { statusCode } = await app.inject('/api/message/?limit=3')
  console.log(JSON.stringify({ statusCode, files }))
  await app.close()
  await db.destroy()
`

/** Packages that are loaded when something uses them, or never. */
const unused = [
  'pg', 'mysql2', '@fastify/busboy', '@sinclair/typebox', 'uuid', '@fastify/swagger', '@fastify/swagger-ui',
  'commander', 'cli-table3'
]

test('the example without documentation loads what a list needs, and no other driver, parser or tool', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const { statusCode, files } = JSON.parse(stdout) as { readonly statusCode: number, readonly files: readonly string[] }
  t.equal(statusCode, 200)
  const loaded = new Set(files.map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]))
  for (const name of ['fastify', 'kysely', 'better-sqlite3', 'ajv']) t.ok(loaded.has(name), `${name} is loaded`)
  for (const name of unused) t.notOk(loaded.has(name), `${name} is not loaded`)
  const own = files.filter((file) => /\/dist\/(lib|schemas)\//.test(file))
  t.ok(own.length > 1 && own.length < 12, `the modules of the package are bundled: ${own.length} files are loaded`)
})
