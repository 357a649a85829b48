import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { client } from '../support/site.js'

export const byAlice = { id: 1, user_id: 2, content: 'hello', pub_date: '2024-01-01 00:00:00' }
/** Rows that `requireWorking` expects beside the users. */
export const rows = { message: [byAlice], note: [{ id: 1, message: 'a note', created: '2024-01-01 00:00:00' }] }

/** Every route of the plugin answers as it does in an app that is nothing but the plugin. */
export async function requireWorking (t: Test, app: FastifyInstance, prefix = '/api'): Promise<void> {
  const { get, post, put, delete: remove } = client(app)
  const url = `${prefix}/message/`
  const list = await get(`${url}?user__username=alice&limit=1`)
  t.strictSame([list.statusCode, list.json().objects], [200, [byAlice]])
  t.strictSame((await get(`${url}?limit=ten`)).json().code, 'REST_MODELS_INVALID_PAGE')
  t.strictSame((await get(`${url}1/`)).json(), byAlice)
  const refused = await post(url, { content: 'x' })
  t.strictSame([refused.statusCode, refused.headers['www-authenticate'], refused.body], [
    401, 'Basic realm="Login Required"', 'Authentication failed'
  ])
  const created = await post(url, { content: 'x' }, { as: 'alice' })
  t.strictSame([created.statusCode, created.json().user_id], [201, 2])
  const location = String(created.headers.location)
  t.equal(location, `${url}${String(created.json().id)}/`)
  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, as: 'alice' }
  t.strictSame((await put(location, 'data=%7B%22content%22%3A%22y%22%7D', form)).json().content, 'y')
  const faulty = await put(location, { content: 1 }, { as: 'alice' })
  t.match(faulty.json(), { statusCode: 400, code: 'REST_MODELS_INVALID_RECORD', details: [{ field: 'content' }] })
  t.equal((await remove(location, { as: 'bob' })).statusCode, 403)
  t.equal((await remove(location, { as: 'alice' })).statusCode, 204)
  t.equal((await get(location)).json().code, 'REST_MODELS_RECORD_NOT_FOUND')
}
