// @once: compiles a program against a document
// @long: generates a client and compiles it

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { test } from 'tap'
import { tsImport } from 'tsx/esm/api'
import { Message, Note, Relationship, User, models } from '../../examples/site/models.js'
import { adminAuth, userAuth } from '../../lib/index.js'
import { compile } from '../support/compile.js'
import { siteUsers } from '../support/site.js'
import { documentedApp } from './documents.js'

/** A small program against the document of the example's models; each marked line must not compile. */
const program = `
import createClient from 'openapi-fetch'
import type { paths, components } from './api.d.ts'

type Message = components['schemas']['Message']

export async function run (baseUrl: string): Promise<unknown> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: 'Basic ' + btoa('alice:alice') } })
  const created = await client.POST('/api/message/', { body: { content: 'hello' } })
  if (created.error !== undefined) throw new Error(typeof created.error === 'string' ? created.error : ` +
  `created.error.message)
  const message: Message = created.data
  const { data: list } = await client.GET('/api/message/', {
    params: { query: { user__username: 'alice', id__gte: 1, content__like: 'hel%', 'pub_date__is': 'null', ordering: ` +
  `'-pub_date', limit: 5 } }
  })
  const { data: all } = await client.GET('/api/message/', { params: { query: { user__active: true, id__in: ` +
  `'1,2,3' } } })
  const contents: string[] = all?.objects.map(({ content }) => content) ?? []
  const changed = await client.PUT('/api/message/{id}/', { params: { path: { id: message.id } }, body: { content: ` +
  `'changed' } })
  const faulty = await client.GET('/api/message/{id}/', { params: { path: { id: 99 } } })
  const code: 'REST_MODELS_RECORD_NOT_FOUND' | undefined = faulty.error?.code === 'REST_MODELS_RECORD_NOT_FOUND' ? ` +
  `faulty.error.code : undefined
  const removed = await client.DELETE('/api/message/{id}/', { params: { path: { id: message.id } } })
  return { id: message.id, none: list?.objects.length, page: list?.meta.page, contents, changed: ` +
  `changed.data?.content, code, status: removed.response.status }
}

export async function faults (): Promise<void> {
  const client = createClient<paths>({ baseUrl: '' })
  await client.GET('/api/message/', { params: { query: { content__near: 'x' } } }) // fault: no such operator
  await client.GET('/api/message/', { params: { query: { id__gt: 'x' } } }) // fault: not a number
  await client.GET('/api/user/', { params: { query: { email: 'x' } } }) // fault: hidden
  await client.POST('/api/message/', { body: { text: 'x' } }) // fault: no such field
  await client.POST('/api/note/', { body: {} }) // fault: a field is missing
  await client.GET('/api/messages/') // fault: no such path
  const { data } = await client.GET('/api/user/{id}/', { params: { path: { id: 1 } } })
  data?.password // fault: hidden
}
`

test('D-73: openapi-typescript makes types with which a program with openapi-fetch compiles and runs', async (t) => {
  const { app } = await documentedApp(t, {
    models,
    rows: { user: [...await siteUsers()] },
    register: (registry) => registry
      .register(User, { auth: adminAuth(User), exclude: ['password', 'email'] })
      .register(Relationship, { auth: userAuth(User), ownerField: 'from_user' })
      .register(Message, { auth: userAuth(User), ownerField: 'user' })
      .register(Note)
  })
  const types = astToString(await openapiTS(app.swagger() as OpenAPI3))
  const folder = t.testdir({ 'api.d.ts': types, 'program.ts': program })
  const expected = program.split('\n').flatMap((line, index) => line.includes('// fault:') ? [index + 1] : [])
  t.equal(expected.length, 7)
  const faults = compile([join(folder, 'program.ts')], {
    allowImportingTsExtensions: true, lib: ['ES2023', 'DOM'], isolatedModules: false
  })
  t.strictSame(
    [...new Set(faults.map((fault) => Number(/program\.ts\((\d+),/.exec(fault)?.[1])))], expected,
    'nothing else is wrong with the program, and all that is meant to be'
  )

  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const { run } = await tsImport(pathToFileURL(join(folder, 'program.ts')).href, import.meta.url) as {
    run: (baseUrl: string) => Promise<unknown>
  }
  t.strictSame(await run(address), {
    id: 1, none: 0, page: 1, contents: ['hello'], changed: 'changed', code: 'REST_MODELS_RECORD_NOT_FOUND', status: 204
  })
})
