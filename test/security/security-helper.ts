import type { LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { buildApp, type BuildOptions, type RequestOptions, type Rows, type TestApp } from '../support/site.js'

/** One record of each kind for alice (2) and bob (3), and one message of the admin (1). */
export const siteRows: Rows = {
  relationship: [{ id: 1, from_user_id: 2, to_user_id: 3 }, { id: 2, from_user_id: 3, to_user_id: 2 }],
  message: [
    { id: 1, user_id: 2, content: 'by alice', pub_date: '2024-02-01 10:00:00' },
    { id: 2, user_id: 3, content: 'by bob', pub_date: '2024-02-02 10:00:00' },
    { id: 3, user_id: 1, content: 'by admin', pub_date: '2024-02-03 10:00:00' }
  ],
  note: [
    { id: 1, message: 'first', created: '2024-03-01 10:00:00' },
    { id: 2, message: 'second', created: '2024-03-02 10:00:00' }
  ]
}

/** The three ways in which JSON travels, and what they are made of. */
export const form = { 'content-type': 'application/x-www-form-urlencoded' }
export const multipart = { 'content-type': 'multipart/form-data; boundary=x' }
export const field = (text: string, name = 'data') =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
export const bodyWays = [
  (json: string) => ({ payload: json, headers: { 'content-type': 'application/json' } }),
  (json: string) => ({ payload: `data=${encodeURIComponent(json)}`, headers: form }),
  (json: string) => ({ payload: `${field(json)}--x--\r\n`, headers: multipart })
]

/** What no refusal may hold. */
const internals = [
  /SQLITE_[A-Z]|SqliteError|\bER_[A-Z]|ECONN|PostgreSQL|MariaDB|MySQL/,
  /constraint failed|no such (?:table|column)|violates|duplicate|foreign key constraint/i,
  /(?:table|column|relation)\W+\w+\W+(?:does not|doesn't) exist|syntax error|error in your SQL/i,
  /\bselect\b.+\bfrom\b|\binsert into\b|\bupdate\b.+\bset\b/i,
  /^\s+at .+:\d+/m,
  /node_modules|\/lib\/\w|\.[jt]s\b/
]
const hash = /\$argon2id?\$v=/

/** Every answer is below 500 and holds no hash, and no refusal holds SQL, a stack or a path. */
export function requireDiscreet (t: Test, { statusCode, body, headers }: LightMyRequestResponse): void {
  const answer = `${JSON.stringify(headers)}\n${body}`
  if (statusCode >= 500) t.fail(`an answer ${statusCode}: ${body}`)
  for (const pattern of statusCode < 400 ? [hash] : [hash, ...internals]) {
    if (pattern.test(answer)) t.fail(`an answer that tells too much (${pattern.source}): ${answer}`)
  }
}

export interface Site extends TestApp {
  /** Runs requests after which every table must be as before. */
  unchanged (requests: () => Promise<void>): Promise<void>
  /** Refuses all of these lists alike with 400 and without a statement, in the words for a name that does not exist. */
  hides (name: string, texts: readonly string[], options?: { path?: string, as?: string }): Promise<void>
  /** Ids of a list. */
  ids (url: string): Promise<number[]>
}

/** The example project's app, or another one, each of whose answers is checked for what none may hold. */
export async function attack (t: Test, options: BuildOptions = {}): Promise<Site> {
  const site = await buildApp(t, options.models === undefined ? { rows: siteRows, ...options } : options)
  const tables = options.models?.map(({ table }) => table) ?? ['user', 'relationship', 'message', 'note']
  const checked = async (reply: Promise<LightMyRequestResponse>) => {
    requireDiscreet(t, await reply)
    return await reply
  }
  const everything = async () => await Promise.all(tables.map(site.rowsOf))
  const get = async (url: string, options?: RequestOptions) => await checked(site.get(url, options))
  return {
    ...site,
    get,
    post: async (url, payload, options) => await checked(site.post(url, payload, options)),
    put: async (url, payload, options) => await checked(site.put(url, payload, options)),
    patch: async (url, payload, options) => await checked(site.patch(url, payload, options)),
    delete: async (url, options) => await checked(site.delete(url, options)),
    unchanged: async (requests) => {
      const before = await everything()
      await requests()
      t.same(await everything(), before, 'nothing has changed')
    },
    hides: async (name, texts, { path = '/api/user/', as } = {}) => {
      const who = as === undefined ? {} : { as }
      const shape = ({ statusCode, body }: LightMyRequestResponse, parameter: string) =>
        ({ statusCode, body: body.replaceAll(JSON.stringify(decodeURIComponent(parameter)).slice(1, -1), '?') })
      const unknown = shape(await site.get(`${path}?nowhere=1`, who), 'nowhere')
      site.forget()
      for (const text of texts) {
        t.same(shape(await get(`${path}?${name}=${text}`, who), name), unknown, `${path}?${name}=${text}`)
      }
      t.same(site.statements.map(({ sql }) => sql), [], 'no statement has run')
    },
    ids: async (url) => (await get(url)).json<{ objects: Array<{ id: number }> }>().objects.map(({ id }) => id)
  }
}
