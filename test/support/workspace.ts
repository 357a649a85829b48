import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { buildWorkspace } from '../../examples/workspace/app.js'
import { emptyDatabase } from './database.js'
import { client, type TestApp } from './site.js'

export interface Workspace extends Pick<TestApp, 'get' | 'post' | 'put' | 'patch' | 'delete'> {
  readonly app: FastifyInstance
  /** What opens the database once more; not that of SQLite, which is in memory. */
  readonly url: string
}

export type Records = ReadonlyArray<Readonly<Record<string, unknown>>>

/** The example workspace on a new database, closed and removed when the test ends. */
export async function buildNew (t: Test): Promise<Workspace> {
  const { url, remove } = await emptyDatabase()
  const app = await buildWorkspace(url)
  t.teardown(async () => {
    await app.close()
    await remove()
  })
  return { app, url, ...client(app) }
}

/** The records on all pages of a list. */
export async function listAll ({ get }: Pick<Workspace, 'get'>, path: string, as: string): Promise<Records> {
  const found: Array<Readonly<Record<string, unknown>>> = []
  for (let next = `/api/${path}`; next !== '';) {
    const page = (await get(next, { as })).json<{ meta: { next: string }, objects: Records }>()
    found.push(...page.objects)
    next = page.meta.next
  }
  return found
}

/** The id of one of the first 155 tasks. */
export const task = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`

export const people = ['root', 'ann', 'art', 'gus', 'gil'] as const

export const refusals = {
  forbidden: { statusCode: 403, code: 'REST_MODELS_FORBIDDEN' },
  absent: { statusCode: 404, code: 'REST_MODELS_RECORD_NOT_FOUND', message: 'No such record' }
}
