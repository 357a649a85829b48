// @once: tells what SQLite answers at once

import type { preHandlerHookHandler, RouteOptions } from 'fastify'
import { test } from 'tap'
import { nextTurn } from '../support/clock.js'
import { buildApp } from '../support/site.js'

/** Notes each call of a function that returns a promise. */
function noting<Call extends (...given: never[]) => unknown> (call: Call, note: () => void): Call {
  return function (this: unknown, ...given: never[]) {
    const result = call.apply(this, given)
    if (result instanceof Promise) note()
    return result
  } as Call
}

/** Notes the method of a route whenever its handler, or a hook before the handler, returns a promise. */
function noteWaits (route: RouteOptions, waited: string[]): void {
  const note = (): void => { waited.push(String(route.method)) }
  route.handler = noting(route.handler, note)
  route.preHandler = (route.preHandler as preHandlerHookHandler[]).map((hook) => noting(hook, note))
}

test('D-283: SQLite answers in one call what needs no password check, no form and no transaction', async (t) => {
  const waited: string[] = []
  const site = await buildApp(t, {
    prepare: (app) => { app.addHook('onRoute', (route) => { noteWaits(route, waited) }) },
    undocumented: 'the hook must be the only one of its kind'
  })
  const alice = { as: 'alice' }
  t.equal((await site.post('/api/message/', { content: 'a' }, alice)).statusCode, 201)
  t.strictSame(waited.splice(0), ['POST'], 'the first login checks the password')

  // After two writes in one turn, those of the next turn would wait, to be committed together.
  await nextTurn()
  t.equal((await site.post('/api/message/', { content: 'b' }, alice)).statusCode, 201)
  await nextTurn()
  t.equal((await site.put('/api/message/1/', { content: 'c' }, alice)).statusCode, 200)
  t.equal((await site.get('/api/message/?user__username=alice')).json<{ objects: unknown[] }>().objects.length, 2)
  t.hasStrict((await site.get('/api/message/1/')).json(), { id: 1, content: 'c' })
  t.equal((await site.put('/api/message/1/', { content: 'd' }, { as: 'bob' })).statusCode, 403)
  t.strictSame(waited.splice(0), ['PUT', 'PUT'], 'the first login of bob, and the refusal by a hook')

  t.hasStrict((await site.get('/api/message/?count=true')).json(), { meta: { count: 2 } })
  const form = { ...alice, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  t.equal((await site.post('/api/message/', 'data=%7B%22content%22%3A%22e%22%7D', form)).statusCode, 201)
  t.equal((await site.delete('/api/message/1/', alice)).statusCode, 204)
  t.strictSame(waited, ['GET', 'POST', 'DELETE'])
})

test('D-283: an application may wrap the handlers in async functions', async (t) => {
  const sent: unknown[] = []
  const site = await buildApp(t, {
    prepare: (app) => {
      app.addHook('onRoute', (route) => {
        const { handler } = route
        route.handler = async function (request, reply) { return await handler.call(this, request, reply) }
      })
      app.addHook('onSend', async (_request, _reply, payload) => {
        await nextTurn()
        sent.push(payload)
        return payload
      })
    },
    undocumented: 'the hook must be the only one of its kind'
  })
  t.hasStrict((await site.post('/api/message/', { content: 'a' }, { as: 'alice' })).json(), { id: 1, content: 'a' })
  t.hasStrict((await site.get('/api/message/1/')).json(), { id: 1, content: 'a' })
  t.equal((await site.get('/api/message/')).json<{ objects: unknown[] }>().objects.length, 1)
  t.equal(sent.length, 3, 'each is answered once')
})

test('D-283: an application may replace Promise', async (t) => {
  const site = await buildApp(t)
  const alice = { as: 'alice' }
  const { Promise: original } = globalThis
  t.teardown(() => { globalThis.Promise = original })
  globalThis.Promise = class extends original<unknown> {} as PromiseConstructor
  const form = { ...alice, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  t.hasStrict((await site.post('/api/message/', 'data=%7B%22content%22%3A%22a%22%7D', form)).json(), { content: 'a' })
  t.hasStrict((await site.get('/api/message/?count=true')).json(), { meta: { count: 1 } })
  t.equal((await site.delete('/api/message/1/', alice)).statusCode, 204)
})
