import assert from 'node:assert/strict'
import { client } from './dist/hey-api/client.gen.js'
import { createMessage, deleteMessage, listMessage, readMessage, updateMessage } from './dist/hey-api/sdk.gen.js'

// A person of the example site writes a message, finds, changes and deletes it, with a client that hey-api generated.
client.setConfig({ baseUrl: process.env['ORIGIN'] ?? '', auth: 'alice:alice' })

const { data: created } = await createMessage({ body: { content: 'by hey-api' }, throwOnError: true })
const path = { id: created.id }
const query = { user__username: 'alice', id__gte: created.id, ordering: '-pub_date', limit: 5 } as const
const found = await listMessage({ query, throwOnError: true })
assert.deepEqual(found.data.objects, [created])
const changed = await updateMessage({ path, body: { content: 'changed' }, throwOnError: true })
assert.equal(changed.data.content, 'changed')
const { response } = await deleteMessage({ path })
assert.equal(response?.status, 204)
const { error } = await readMessage({ path })
assert.equal(error?.code, 'REST_MODELS_RECORD_NOT_FOUND')
