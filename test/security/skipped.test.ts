import { test, type Test } from 'tap'
import { adminAuth, openAuth, userAuth } from '../../lib/index.js'
import { buildApp, Message, Note, User } from '../support/site.js'

const thrown = [null, undefined]
const stages = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

/** The example project behind a hook of the host that throws a value which is no Error, so that Fastify goes on. */
async function build (t: Test, stage: typeof stages[number], value: unknown) {
  return await buildApp(t, {
    undocumented: 'the host is broken',
    prepare: (app) => { app.addHook(stage as 'onRequest', () => { throw value }) },
    register: (registry) => {
      registry.register(User, { auth: adminAuth(User, { protect: 'all' }), exclude: ['password'] })
      registry.register(Message, { auth: userAuth(User), ownerField: 'user' })
      registry.register(Note, { auth: openAuth() })
    }
  })
}

test('T-156: a hook of the host that throws null does not open what the policy protects', async (t) => {
  for (const [stage, value] of stages.flatMap((stage) => thrown.map((value) => [stage, value] as const))) {
    const { app, get, post, put, delete: remove, rowsOf } = await build(t, stage, value)
    const before = await Promise.all(['user', 'message', 'note'].map(rowsOf))
    const body = { content: 'x', user: 1 }
    const answers = [
      await get('/api/user/'), await post('/api/user/', { username: 'eve', password: 'x', admin: true }),
      await post('/api/message/', body), await put('/api/message/1/', body), await remove('/api/message/1/'),
      await app.inject({
        method: 'POST', url: '/api/note/', payload: { message: 'x' }, headers: { origin: 'https://evil.example' }
      })
    ]
    for (const { statusCode } of answers) t.ok(statusCode >= 400, `${stage}, ${value}: ${statusCode}`)
    t.strictSame(await Promise.all(['user', 'message', 'note'].map(rowsOf)), before, `${stage}, ${value}`)
  }
})
