// @once: about the document, which no engine sees

import { test } from 'tap'
import { openAuth, userAuth } from '../../lib/index.js'
import { Note, User } from '../support/site.js'
import { documentedApp, type ReadDocument } from './documents.js'

type Part = Readonly<Record<string, unknown>>

const headersOf = (document: ReadDocument, id: string): unknown =>
  document.operation(id).parameters?.filter(({ in: place }) => place === 'header').map(({ name }) => name) ?? []

const operations = ['list', 'create', 'read', 'update', 'delete']

test('D-179: the document has tags, preconditions and their answers for resources with the option', async (t) => {
  const { document } = await documentedApp(t, {
    models: [User, Note],
    register: (registry) => {
      registry.register(Note, { auth: openAuth(), etag: true })
        .register(Note, { auth: userAuth(User), path: 'plain' })
    }
  })
  const responsesOf = (id: string) => document.operation(id).responses
  const tag = { ETag: { schema: { type: 'string' } } }
  for (const [id, status] of [['readNote', 200], ['updateNote', 200], ['createNote', 201]] as const) {
    t.match(responsesOf(id)[status]?.headers, tag, id)
  }
  t.strictSame(Object.keys(responsesOf('createNote')[201]?.headers ?? {}), ['Location', 'ETag'])
  t.match(responsesOf('readNote')[304], { headers: tag, content: undefined })
  for (const id of ['updateNote', 'deleteNote']) {
    t.strictSame(headersOf(document, id), ['If-Match'])
    t.match(responsesOf(id)[412]?.content?.['application/json']?.schema, {
      properties: { code: { enum: ['REST_MODELS_PRECONDITION_FAILED'] } }
    })
  }
  t.strictSame(headersOf(document, 'readNote'), ['If-None-Match'])
  for (const id of ['listNote', 'createNote', ...operations.map((name) => `${name}Plain`)]) {
    t.strictSame(headersOf(document, id), [], id)
    t.notOk(304 in responsesOf(id) || 412 in responsesOf(id), id)
    const names = Object.values(responsesOf(id)).flatMap(({ headers = {} }) => Object.keys(headers))
    t.equal(names.includes('ETag'), id === 'createNote', id)
  }
})

test('D-183: the 400 of every update and delete may be about If-Match, that of others never', async (t) => {
  const { document } = await documentedApp(t)
  const codesOf = (id: string): readonly unknown[] => {
    const { properties } = document.operation(id).responses[400]?.content?.['application/json']?.schema as Part
    return (properties as { readonly code: { readonly enum: readonly unknown[] } }).code.enum
  }
  const isConditional = (name: string) => codesOf(`${name}Message`).includes('REST_MODELS_INVALID_PRECONDITION')
  t.strictSame(operations.filter(isConditional), ['update', 'delete'])
})
