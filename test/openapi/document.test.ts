// @once: about documents, which say the same of each engine

import swagger from '@fastify/swagger'
import Fastify from 'fastify'
import { test } from 'tap'
import restModels, {
  adminAuth, createTables, defineModel, integer, json, text, userAuth, type Policy
} from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { buildApp, Message, Note, User } from '../support/site.js'
import { documentedApp, info, parametersOf, validator, version31 } from './documents.js'

test('D-73: a host with @fastify/swagger has one operation for each route that somebody may use', async (t) => {
  const { document } = await documentedApp(t)
  t.strictSame(
    Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods).sort()]),
    [
      ...['user', 'relationship', 'message'].flatMap((name) => [
        [`/api/${name}/`, ['get', 'post']],
        [`/api/${name}/{id}/`, ['delete', 'get', 'patch', 'put']]
      ]),
      ['/api/note/', ['get']],
      ['/api/note/{id}/', ['get']]
    ]
  )
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    .map(({ operationId }) => operationId)
  t.strictSame(ids.slice(0, 6).sort(), ['createUser', 'deleteUser', 'listUser', 'patchUser', 'readUser', 'updateUser'])
  t.equal(new Set(ids).size, 20)
  t.strictSame(document.tags.map(({ name }) => name), ['user', 'relationship', 'message', 'note'])
  const { summary, tags, description } = document.operation('deleteMessage')
  t.strictSame([summary, tags], ['Delete a record of message', ['message']])
  t.match(description, 'Only the owner of a record of message may do this.')
})

test('D-147: PATCH is an operation of its own, with the parts of PUT', async (t) => {
  const { document } = await documentedApp(t)
  const [patch, put] = [document.operation('patchMessage'), document.operation('updateMessage')]
  t.equal(document.paths['/api/message/{id}/']?.['patch']?.operationId, 'patchMessage')
  t.strictSame([patch.summary, patch.parameters, patch.responses], [put.summary, put.parameters, put.responses])
  const { 'application/merge-patch+json': merge, ...others } = patch.requestBody?.content ?? {}
  t.strictSame(others, put.requestBody?.content)
  t.strictSame(merge, put.requestBody?.content?.['application/json'])
  t.match(patch.description, 'PATCH does what PUT does.')
  t.match(patch.description, 'Only the owner of a record of message may do this.')
  t.match(document.text, '"#/components/schemas/MessageUpdate"')
  t.notMatch(document.text, '"#/components/schemas/MessageUpdate2"')
})

test('D-73: the document of the example project has less than 68 KB', async (t) => {
  const { document } = await documentedApp(t)
  t.ok(document.text.length < 68_000, `${document.text.length} characters`)
})

test('D-73: the document is as valid in OpenAPI 3.0, where nothing has two types', async (t) => {
  const Thing = defineModel('Thing', {
    size: integer({ nullable: true }), name: text({ nullable: true, enum: ['a', 'b'] })
  })
  const { document } = await documentedApp(t, {
    models: [User, Thing], register: (registry) => { registry.register(Thing, { auth: userAuth(User) }) }
  }, { openapi: { info } })
  t.match(document.text, '"openapi":"3.0.3"')
  t.strictSame(document.schemas['Thing']?.properties?.['name'], {
    type: 'string', nullable: true, enum: ['a', 'b', null]
  })
  t.strictSame(document.schemas['Thing']?.['example'], { id: 1, size: 1, name: 'a' })
  t.notMatch(document.text, /"type":\[|"examples"/)
})

test('D-73: in OpenAPI 3.0, a related record or null is one that is nullable', async (t) => {
  const { document } = await documentedApp(t, {}, { openapi: { info } })
  t.match(document.schemas['Message']?.properties?.['user'], { allOf: [{ type: 'object' }], nullable: true })
})

test('D-73: a host that asks for Swagger 2.0 gets the schemas of the routes', async (t) => {
  const { app } = await buildApp(t, { prepare: async (app) => { await app.register(swagger, { swagger: { info } }) } })
  const { paths = {} } = app.swagger() as { paths?: Record<string, object> }
  t.strictSame(Object.keys(paths).length, 8)
  t.strictSame(Object.keys(paths['/api/message/'] ?? {}), ['get', 'post'])
})

test('D-176: a document in Swagger 2.0 is one warning in the log, with the remedy', async (t) => {
  const lines: string[] = []
  const write = (line: string): void => { lines.push(JSON.parse(line).msg) }
  const server = { logger: { level: 'warn', stream: { write } } }
  const { app } = await buildApp(t, { server, prepare: async (app) => { await app.register(swagger) } })
  t.strictSame(lines, [], 'a host that asks for no document is told nothing')
  app.swagger()
  app.swagger({ yaml: true })
  t.strictSame(lines, ['@fastify/swagger writes a document in Swagger 2.0, which has no filters, names or errors of ' +
    "the operations. Give it the option 'openapi', such as { openapi: { openapi: '3.1.0', info } }"])
  await documentedApp(t, { server })
  t.equal(lines.length, 1, 'no warning of a document in OpenAPI')
})

test('D-73: no host needs @fastify/swagger, and no request is judged by what documentation says', async (t) => {
  const schemas: unknown[] = []
  const app = Fastify()
  const db = openSqlite(':memory:')
  t.teardown(async () => { await app.close(); await db.destroy() })
  await createTables(db, [Note])
  app.addHook('onRoute', ({ schema }) => { schemas.push(schema?.querystring) })
  await app.register(restModels, { db })
  app.restModels.register(Note)
  await app.restModels.setup()
  const reply = await app.inject('/api/note/?limit=%31&id__is=none')
  t.strictSame([reply.statusCode, reply.json().objects], [200, []])
  t.equal(app.hasDecorator('swagger'), false)
  t.strictSame([...new Set(schemas)], [undefined], 'no route has a schema of its query, so there is nothing to coerce')
})

const always = ['414', '500', '503']
const guarded = ['401', '403', '429']
const bodied = ['413', '415']
const statusesOf: Readonly<Record<string, readonly string[]>> = {
  // Anybody reads, users write.
  listMessage: ['200', '400', ...always],
  readMessage: ['200', '400', '404', ...always],
  createMessage: ['201', '400', '409', ...guarded, ...bodied, ...always],
  updateMessage: ['200', '400', '404', '409', ...guarded, ...bodied, ...always],
  deleteMessage: ['204', '400', '404', '409', ...guarded, ...bodied, ...always],
  // Nobody writes.
  listNote: ['200', '400', ...always],
  // Admins do all.
  listUser: ['200', '400', ...guarded, ...always],
  readUser: ['200', '400', '404', ...guarded, ...always]
}

test('D-74: an operation has the statuses that its policy and its resource let happen, and no other', async (t) => {
  const { document } = await documentedApp(t, {
    register: (registry) => registry.register(User, { auth: adminAuth(User, { protect: 'all' }) })
      .register(Message, { auth: userAuth(User) }).register(Note)
  })
  for (const [id, statuses] of Object.entries(statusesOf)) {
    t.strictSame(Object.keys(document.operation(id).responses), [...statuses].sort(), id)
  }
  const { responses } = document.operation('createMessage')
  t.hasStrict(responses['201']?.headers, { Location: { schema: { type: 'string' } } })
  t.strictSame(Object.keys(responses['401']?.content ?? {}), ['text/html'])
  t.hasStrict(responses['401']?.headers, { 'WWW-Authenticate': { schema: { enum: ['Basic realm="Login Required"'] } } })
  for (const status of ['429', '503']) {
    t.hasStrict(responses[status]?.headers, { 'Retry-After': { schema: { type: 'integer' } } })
  }
  t.throws(() => document.operation('createNote'), /No operation/, 'nobody may do this')
})

test('D-231: the document tells what a 503 of a write may mean, and that one of a read changes nothing', async (t) => {
  const { document } = await documentedApp(t, {
    register: (registry) => registry.register(Message, { auth: userAuth(User) })
  })
  const codesOf = (id: string): unknown => {
    const schema = document.operation(id).responses['503']?.content?.['application/json']?.schema
    return schema?.properties?.['code']?.enum
  }
  for (const id of ['listMessage', 'readMessage']) t.same(codesOf(id), ['REST_MODELS_UNAVAILABLE'], id)
  for (const id of ['createMessage', 'updateMessage', 'deleteMessage']) {
    t.same(codesOf(id), ['REST_MODELS_UNAVAILABLE', 'REST_MODELS_OUTCOME_UNKNOWN'], id)
  }
})

test('D-74: an open write that hashes a password can be one too many', async (t) => {
  const open: Policy = { open: ['create'], authenticator: () => async () => null, permits: () => true }
  const { document } = await documentedApp(t, {
    register: (registry) => registry.register(User, { auth: open }).register(Note, { auth: open })
  })
  t.ok('429' in document.operation('createUser').responses)
  t.notOk('429' in document.operation('createNote').responses)
  t.strictSame(document.operation('createUser').security, [])
})

test('D-75: credentials are asked for where they are of use', async (t) => {
  const bearer: Policy = {
    open: ['list'],
    scheme: { type: 'http', scheme: 'bearer' },
    authenticator: () => async () => ({ id: 1, admin: true }),
    permits: () => true
  }
  const keyed: Policy = { ...bearer, scheme: { type: 'apiKey', in: 'header', name: 'x-key' } }
  const unnamed: Policy = { open: ['list'], authenticator: bearer.authenticator, permits: bearer.permits }
  const { document } = await documentedApp(t, {
    register: (registry) => registry
      .register(User, { auth: unnamed }).register(Message, { auth: userAuth(User) })
      .register(Note, { auth: bearer, path: 'open-notes' })
      .register(Note, { auth: keyed })
  })
  t.strictSame(document.securitySchemes, {
    basic: { type: 'http', scheme: 'basic' }, bearer: { type: 'http', scheme: 'bearer' }, apiKey: keyed.scheme
  })
  t.strictSame(document.operation('readNote').security, [{ apiKey: [] }])
  const securityOf = (id: string) => document.operation(id).security
  t.strictSame([securityOf('listMessage'), securityOf('createMessage')], [[], [{ basic: [] }]])
  t.strictSame([securityOf('listOpenNotes'), securityOf('readOpenNotes')], [[], [{ bearer: [] }]])
  t.strictSame(
    [securityOf('listUser'), securityOf('readUser')], [[], undefined],
    'the policy does not say how: as the host says of everything'
  )
})

test("D-73: the host's own components, tags and routes stay as they are, and its options unchanged", async (t) => {
  const mine = { type: 'apiKey', name: 'key', in: 'header' } as const
  const options = {
    openapi: {
      openapi: '3.1.0',
      info,
      tags: [{ name: 'message', description: 'Mine' }],
      components: {
        securitySchemes: { basic: mine },
        schemas: { Message: { type: 'string' as const } },
        responses: { Forbidden: { description: 'Mine' } }
      }
    }
  }
  const before = structuredClone(options)
  const { document } = await documentedApp(t, {
    prepare: (app) => {
      app.get(
        '/health',
        { schema: { operationId: 'listMessage', tags: ['message'], response: { 200: { type: 'string' } } } },
        async () => 'well'
      )
    }
  }, options)
  t.strictSame(options.openapi, before.openapi)
  t.strictSame(document.securitySchemes, { basic: mine, basic2: { type: 'http', scheme: 'basic' } })
  t.strictSame(document.schemas['Message'], { type: 'string' })
  t.strictSame(
    document.operation(
      'listMessage2'
    ).responses['200']?.content?.['application/json']?.schema.properties?.['objects']?.['items'],
    document.schemas['Message2']
  )
  t.strictSame(document.tags[0], { name: 'message', description: 'Mine' })
  t.strictSame(document.operation('updateMessage').security, [{ basic2: [] }])
})

test('D-73: the operations of two containers have names of their own, and share what is the same', async (t) => {
  const app = Fastify()
  const db = openSqlite(':memory:')
  t.teardown(async () => { await app.close(); await db.destroy() })
  await createTables(db, [User, Note])
  await app.register(swagger, version31)
  for (const [prefix, limits] of [['/v1', {}], ['/v2', { valueLength: 10 }]] as const) {
    await app.register(async (scope) => {
      await scope.register(restModels, { db, prefix, limits })
      scope.restModels.register(Note, prefix === '/v1' ? {} : { exclude: ['created'] })
      await scope.restModels.setup()
    })
  }
  await app.ready()
  const { valid } = await validator.validate(JSON.parse(JSON.stringify(app.swagger())))
  t.equal(valid, true)
  const text = JSON.stringify(app.swagger())
  t.match(text, /"\/v1\/note\/":\{"get":\{"operationId":"listNote",/)
  t.match(text, /"\/v2\/note\/":\{"get":\{"operationId":"listNote2",/)
  t.strictSame(Object.keys((JSON.parse(text) as { components: { schemas: object } }).components.schemas)
    .filter((name) => /^(Note|Text|Error)/.test(name)).sort(),
  ['Error', 'Note', 'Note2', 'NoteList', 'NoteList2', 'TextFilter', 'TextFilter2', 'TextListFilter'])
})

test('D-73: HEAD is documented for a host that exposes it, under a name of its own', async (t) => {
  const { document } = await documentedApp(t, {}, { ...version31, exposeHeadRoutes: true })
  t.strictSame(Object.keys(document.paths['/api/note/'] ?? {}).sort(), ['get', 'head'])
  t.equal(document.paths['/api/note/']?.['head']?.operationId, 'listNote-head')
})

test("D-73: a server's base path is taken off the paths, as the host has it", async (t) => {
  const { document } =
    await documentedApp(t, {}, { openapi: { openapi: '3.1.0', info, servers: [{ url: 'https://example.com/api' }] } })
  t.ok(document.paths['/note/{id}/'])
  t.strictSame(parametersOf(document.paths['/note/{id}/']?.['get'] ?? document.operation('none')), ['id'])
})

test("D-73: a path that the host describes by hand stays as it is, even if it looks like a resource's", async (t) => {
  const { document } = await documentedApp(
    t, {}, { openapi: { openapi: '3.1.0', info, paths: { '/elsewhere/note/': { get: {} as never } } } }
  )
  t.strictSame(document.paths['/elsewhere/note/'], { get: {} })
  t.equal(document.operation('listNote').tags[0], 'note')
})

test('D-73: operations of the host stay, and those of the plugin keep their names in every document', async (t) => {
  const parameters = Object.freeze([Object.freeze({ name: 'limit', in: 'query', schema: { type: 'integer' } })])
  const paths = {
    '/host/note/': Object.freeze({
      get: Object.freeze({ operationId: 'mine', parameters, responses: { 200: { description: 'Yes' } } })
    })
  }
  const { app, document } = await documentedApp(
    t, {}, { openapi: { openapi: '3.1.0', info, paths } } as unknown as typeof version31
  )
  t.strictSame(paths['/host/note/'].get.parameters, parameters)
  t.ok(document.operation('listNote'))
  t.match(app.swagger({ yaml: true }), /operationId: listNote\n/)
  t.notMatch(app.swagger({ yaml: true }), 'listNote2')
})

const Odd = defineModel('Odd', {
  examples: text(), type: text({ default: 'a' }), data: json({ default: { type: ['a', 'b'], examples: [1] } })
})

test('D-73: in OpenAPI 3.0, names of fields and values are not taken for words of a schema', async (t) => {
  const { document } = await documentedApp(
    t, { models: [User, Odd], register: (registry) => { registry.register(Odd, { auth: userAuth(User) }) } },
    { openapi: { openapi: '3.0.3', info } }
  )
  t.strictSame(Object.keys(document.schemas['OddCreate']?.properties ?? {}), ['examples', 'type', 'data'])
  t.match(document.schemas['OddCreate']?.properties?.['data'], { default: { type: ['a', 'b'], examples: [1] } })
})
