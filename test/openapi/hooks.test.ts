// @once: about the document, which no engine sees

import { test } from 'tap'
import { openAuth } from '../../lib/index.js'
import { Note } from '../support/site.js'
import { documentedApp, version31 } from './documents.js'

const operations = ['list', 'create', 'read', 'update', 'patch', 'delete']
const reads = ['list', 'read']

const error = { required: ['statusCode', 'error', 'message'], properties: { code: { type: 'string' } } }

test('D-245: each error of a write with hooks may also be one of the application, and others too', async (t) => {
  const { document } = await documentedApp(t, {
    models: [Note],
    register: (registry) => {
      registry.register(Note, { auth: openAuth(), beforeWrite: () => {} })
        .register(Note, { auth: openAuth(), path: 'later', afterWrite: () => {} })
        .register(Note, { auth: openAuth(), path: 'plain' })
    }
  })
  const schemasOf = (id: string) => Object.entries(document.operation(id).responses)
    .map(([status, { content }]) => [status, content?.['application/json']?.schema] as const)
    .filter(([status]) => !status.startsWith('2'))
  for (const name of operations) {
    for (const resource of ['Note', 'Later', 'Plain']) {
      const isHooked = resource !== 'Plain' && !reads.includes(name)
      for (const [status, schema] of schemasOf(`${name}${resource}`)) {
        const anyOf = status === 'default' ? [schema] : schema?.['anyOf'] as unknown[] | undefined
        t.match(anyOf?.at(-1), isHooked ? error : undefined, `${name} ${resource} ${status}`)
      }
      t.equal('default' in document.operation(`${name}${resource}`).responses, isHooked, `${name} ${resource}`)
    }
  }
  const [known] = document.operation('createNote').responses[400]?.content?.['application/json']
    ?.schema['anyOf'] as unknown[]
  t.match(known, { properties: { code: { enum: ['REST_MODELS_INVALID_RECORD'] } } }, 'the codes of the plugin stay')
})

test('the host may describe the refusals of its hooks by transformObject', async (t) => {
  const refusal = { description: 'A published note stays' }
  const { document } = await documentedApp(t, {
    models: [Note],
    register: (registry) => { registry.register(Note, { auth: openAuth(), beforeWrite: () => {} }) }
  }, {
    ...version31,
    transformObject: (given) => {
      if (!('openapiObject' in given)) throw new Error('the document is in OpenAPI')
      const { delete: removal } = given.openapiObject.paths?.['/api/note/{id}/'] ?? {}
      Object.assign(removal?.responses ?? {}, { 410: refusal })
      return given.openapiObject
    }
  })
  t.match(document.operation('deleteNote').responses[410], refusal)
})
