import assert from 'node:assert/strict'
import { createMessage, deleteMessage, listMessage, readMessage, updateMessage } from './dist/orval.js'

// A person of the example site writes a message, finds, changes and deletes it, with a client that orval generated.
const login = { headers: { authorization: `Basic ${btoa('alice:alice')}`, 'content-type': 'application/json' } }

const created = await createMessage({ content: 'by orval' }, login)
assert(created.status === 201)
const { id } = created.data
const found = await listMessage({ user__username: 'alice', id__gte: id, ordering: '-pub_date', limit: 5 })
assert(found.status === 200)
assert.deepEqual(found.data.objects, [created.data])
const changed = await updateMessage(id, { content: 'changed' }, login)
assert(changed.status === 200)
assert.equal(changed.data.content, 'changed')
const removed = await deleteMessage(id, login)
assert.equal(removed.status, 204)
const missing = await readMessage(id)
assert(missing.status === 404)
assert.equal(missing.data.code, 'REST_MODELS_RECORD_NOT_FOUND')
