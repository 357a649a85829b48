import Fastify, { type FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import restModels, { createTables, readOnlyAuth } from '../../lib/index.js'
import { checkAnswers } from '../support/answers.js'
import { insert, Note } from '../support/site.js'
import { openDatabase } from '../support/database.js'

/** An app whose answers are checked, and what the check finds. */
async function checkedApp (
  t: Test, prepare: (app: FastifyInstance) => void
): Promise<{ app: FastifyInstance, faults: string[] }> {
  const app = Fastify()
  const db = await openDatabase(t)
  t.teardown(async () => { await app.close() })
  await createTables(db, [Note])
  await insert(db, { note: [{ id: 1, message: 'a note', created: '2024-01-01 00:00:00' }] })
  const faults: string[] = []
  await checkAnswers({ fail: (message: string) => faults.push(message) }, app)
  prepare(app)
  await app.register(restModels, { db, defaultAuth: readOnlyAuth() })
  app.restModels.register(Note)
  await app.restModels.setup()
  return { app, faults }
}

test('what the plugin answers is what its document declares', async (t) => {
  const { app, faults } = await checkedApp(t, () => {})
  for (const url of ['/api/note/', '/api/note', '/api/note/1/', '/api/note/2/', '/api/note/?nothing=1']) {
    for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE'] as const) await app.inject({ method, url })
  }
  t.strictSame(faults, [])
})

const changes: Readonly<Record<string, readonly [
  payload: (answer: string) => string, status: number, type: string, fault: RegExp
]>> = {
  'a status': [(answer) => answer, 202, 'application/json', /there is no 202 Accepted/],
  'a content type': [(answer) => answer, 200, 'text/plain', /the content type is text\/plain/],
  'a body': [(answer) => answer.replace('"a note"', '1'), 200, 'application/json', /the body\/message must be string/],
  'a field more': [
    (answer) => answer.replace('{', '{"more":1,'), 200, 'application/json', /must NOT have additional properties/
  ],
  'no body': [() => '', 200, 'application/json', /there is no body/],
  'a form of time': [
    (answer) => answer.replace('2024-01-01 00', '2024-01-01T00'), 200, 'application/json',
    /the body\/created must match pattern/
  ]
}

for (const [name, [payload, status, type, fault]] of Object.entries(changes)) {
  test(`an answer that differs from the document in ${name} fails the test that sees it`, async (t) => {
    const { app, faults } = await checkedApp(t, (app) => {
      app.addHook('preSerialization', async (_request, reply, answer) => {
        reply.code(status).header('content-type', type).serializer((value: unknown) => payload(JSON.stringify(value)))
        return answer
      })
    })
    await app.inject('/api/note/1/')
    t.equal(faults.length, 1)
    t.match(faults[0], fault)
  })
}

test('a header that the document declares may not be absent', async (t) => {
  const { app, faults } = await checkedApp(t, (app) => {
    app.addHook('onRequest', async (_request, reply) =>
      await reply.code(401).type('text/html').send('Authentication failed'))
  })
  await app.inject({ method: 'POST', url: '/api/note/' })
  t.match(faults, [/the header WWW-Authenticate is absent or wrong/])
})
