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

for (const stage of stages) {
  test(`T-156: a hook ${stage} of the host that throws null does not open what the policy protects`, async (t) => {
    for (const value of thrown) {
      const { app, get, post, put, delete: remove, rowsOf } = await build(t, stage, value)
      const before = await Promise.all(['user', 'message', 'note'].map(rowsOf))
      const body = { content: 'x', user: 1 }
      const answers = [
        await get('/api/user/'), await post('/api/user/', { username: 'eve', password: 'x', admin: true }),
        await post('/api/message/', body), await put('/api/message/1/', body), await remove('/api/message/1/')
      ]
      t.strictSame(answers.map(({ statusCode }) => statusCode >= 400), [true, true, true, true, true])
      t.equal((await get('/api/message/')).statusCode, 200, 'that is open to everybody')
      const foreign = await app.inject({
        method: 'POST', url: '/api/note/', payload: { message: 'x' }, headers: { origin: 'https://evil.example' }
      })
      t.ok(foreign.statusCode >= 400, `a foreign page writes nothing: ${foreign.statusCode}`)
      t.strictSame(await Promise.all(['user', 'message', 'note'].map(rowsOf)), before)
    }
  })
}
