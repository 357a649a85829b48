// @once: about Fastify

import type { FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import type { ListEnvelope } from '../../lib/response/envelope.js'
import { buildApp, Note } from '../support/site.js'
import { rows } from './working.js'

const created = '2024-01-01 00:00:00'
const records = [{ id: 1, message: 'first', created }, { id: 2, message: 'second', created }]
const meta = { model: 'note', page: 1, next: '', previous: '' }
const asIs = JSON.stringify({ meta, objects: records })

/** The body of the list of two notes, in an app with hooks of its host. */
async function listWith (t: Test, prepare: (app: FastifyInstance) => void): Promise<string> {
  const { get } = await buildApp(t, {
    models: [Note],
    register: (registry) => { registry.register(Note) },
    rows: { note: records.map(({ message }) => ({ message, created })) },
    undocumented: 'hooks of the host may answer what they like',
    prepare
  })
  return (await get('/api/note/')).body
}

const hooks: Readonly<Record<string, readonly [hook: (answer: ListEnvelope) => unknown, body: string]>> = {
  'leaves it alone': [(answer) => answer, asIs],
  'looks at its records': [(answer) => answer.objects.length === 2 && answer, asIs],
  'changes a record': [(answer) => {
    Object.assign(answer.objects[0] as object, { message: 'changed' })
    return answer
  }, asIs.replace('first', 'changed')],
  'changes the paging information': [(answer) => {
    Object.assign(answer.meta, { page: 7 })
    return answer
  }, asIs.replace('"page":1', '"page":7')],
  'puts other paging information in its place': [
    (answer) => Object.assign(answer, { meta: { ...answer.meta, page: 7 } }), asIs.replace('"page":1', '"page":7')
  ],
  'puts other records in their place': [
    (answer) => Object.assign(answer, { objects: answer.objects.slice(1) }),
    JSON.stringify({ meta, objects: records.slice(1) })
  ],
  'copies it': [(answer) => ({ ...answer }), asIs],
  'copies it with other records': [(answer) => ({ ...answer, objects: [] }), JSON.stringify({ meta, objects: [] })],
  'copies it into JSON and back': [(answer) => JSON.parse(JSON.stringify(answer)) as unknown, asIs],
  'adds what no schema has': [(answer) => Object.assign(answer, { secret: 1 }), asIs]
}

for (const [name, [hook, body]] of Object.entries(hooks)) {
  test(`a preSerialization hook of the host gets a list with its records: one that ${name}`, async (t) => {
    const answer = await listWith(t, (app) => {
      app.addHook('preSerialization', async (_request, _reply, payload) => hook(payload as ListEnvelope))
    })
    t.equal(answer, body)
  })
}

test('a hook that answers null is obeyed: a list without anything', async (t) => {
  t.equal(await listWith(t, (app) => { app.addHook('preSerialization', async () => null) }), '{}')
})

test('a serializer that a hook of the host sets for one answer gets the records', async (t) => {
  const answer = await listWith(t, (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.serializer((payload: ListEnvelope) => payload.objects.map(({ message }) => message).join())
    })
  })
  t.equal(answer, 'first,second')
})

test('a schema that the host puts in place of ours decides what a list shows', async (t) => {
  const answer = await listWith(t, (app) => {
    app.addHook('onRoute', ({ schema }) => {
      const objects = { type: 'array', items: { type: 'object', properties: { message: { type: 'string' } } } }
      if (schema?.response != null) Object.assign(schema.response, { 200: { type: 'object', properties: { objects } } })
    })
  })
  t.equal(answer, JSON.stringify({ objects: records.map(({ message }) => ({ message })) }))
})

test('a hook of the host may put another Buffer in place of a body; changes to a query are not read', async (t) => {
  const { get, post, put } = await buildApp(t, {
    rows,
    prepare: (app) => {
      for (const hook of ['preValidation', 'preHandler'] as const) {
        app.addHook(hook, async (request) => {
          Object.assign(request.query as object, { content: 'nothing has this content', limit: 'x' })
          if (!Buffer.isBuffer(request.body)) return
          request.body = request.body.includes('as an object')
            ? JSON.parse(request.body.toString())
            : Buffer.from(request.body.toString().replace('sent', 'changed'))
        })
      }
    },
    undocumented: 'hooks of the host may change requests as they like'
  })
  t.match((await get('/api/message/?content=hello')).json(), { objects: [{ content: 'hello' }] })
  t.match((await post('/api/message/', { content: 'sent' }, { as: 'alice' })).json(), { content: 'changed' })
  t.match((await put('/api/message/1/', { content: 'sent' }, { as: 'alice' })).json(), { content: 'changed' })
  t.match((await post('/api/message/', { content: 'as an object' }, { as: 'alice' })).json(), {
    statusCode: 400, message: 'The body must be one JSON object'
  })
})

/** Ways in which a host serializes answers itself. */
const serializers: Readonly<Record<string, (app: FastifyInstance) => void>> = {
  'for one answer': (app) => {
    app.addHook('onRequest', async (_request, reply) => { reply.serializer(() => '"by the host"') })
  },
  'for its scope': (app) => { app.setReplySerializer(() => '"by the host"') },
  'for a route': (app) => {
    app.addHook('onRoute', (route) => { route.serializerCompiler = () => () => '"by the host"' })
  },
  'by a schema in place of ours': (app) => {
    app.addHook('onRoute', ({ schema }) => {
      if (schema?.response != null) Object.assign(schema.response, { 200: { type: 'string', const: 'by the host' } })
    })
  }
}

for (const [name, prepare] of Object.entries(serializers)) {
  test(`D-290: a serializer that the host sets ${name} serializes all answers, also those with include`, async (t) => {
    const { get } = await buildApp(t, { rows, prepare, undocumented: 'the host may answer what it likes' })
    for (const path of ['/api/message/', '/api/message/1/']) {
      t.equal((await get(path)).body, '"by the host"', path)
      t.equal((await get(`${path}?include=user`)).body, '"by the host"', `${path} with include`)
    }
  })
}

const copies: Readonly<Record<string, (record: object) => object>> = {
  'leaves records alone': (record) => record,
  'copies records': (record) => ({ ...record }),
  'assigns records': (record) => Object.assign({}, record)
}

for (const [name, copy] of Object.entries(copies)) {
  test(`D-290: related records are kept by a preSerialization hook of the host that ${name}`, async (t) => {
    const { get } = await buildApp(t, {
      rows,
      prepare: (app) => {
        app.addHook('preSerialization', async (_request, _reply, answer: object) => {
          const { meta, objects } = answer as Partial<ListEnvelope>
          return objects === undefined ? copy(answer) : { meta, objects: objects.map(copy) }
        })
      },
      undocumented: 'hooks of the host may answer what they like'
    })
    const record = (await get('/api/message/1/?include=user')).json()
    t.match(record, { content: 'hello', user: { username: 'alice' } })
    t.strictSame((await get('/api/message/?include=user')).json().objects, [record])
  })
}

const otherIds: Readonly<Record<string, readonly [other: (id: string) => unknown, status: number]>> = {
  'a number': [Number, 200],
  'a bigint': [BigInt, 200],
  'a fraction': [(id) => Number(id) + 0.5, 404],
  'a negative number': [(id) => -Number(id), 404],
  'not a number': [() => NaN, 404],
  nothing: [() => undefined, 404],
  'an object': [() => ({}), 404]
}

for (const [name, [other, status]] of Object.entries(otherIds)) {
  test(`a hook of the host that makes ${name} of the id in a path: reads and writes answer ${status}`, async (t) => {
    const { get, put } = await buildApp(t, {
      rows,
      prepare: (app) => {
        app.addHook('preValidation', async ({ params }) => {
          const { id } = params as { readonly id: string }
          Object.assign(params as object, { id: other(id) })
        })
      },
      undocumented: 'hooks of the host may change paths as they like'
    })
    for (const url of ['/api/message/1/', '/api/message/1/?include=user', '/api/message/1']) {
      t.equal((await get(url)).statusCode, status, url)
    }
    t.equal((await put('/api/message/1/', { content: 'x' }, { as: 'alice' })).statusCode, status)
  })
}
