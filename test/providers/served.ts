import { openAuth, boolean, date, datetime, defineModel, foreignKey, text } from '../../lib/index.js'
import { createClient, type Client } from '../../lib/client.js'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { buildApp } from '../support/site.js'

export const Person = defineModel('Person', { name: text({ unique: true, minLength: 1 }) })
export const Task = defineModel('Task', {
  title: text({ minLength: 1, maxLength: 20 }),
  state: text({ enum: ['open', 'done'], default: 'open' }),
  due: date({ nullable: true }),
  person: foreignKey(() => Person, { nullable: true }),
  author: foreignKey(() => Person, { nullable: true, key: 'authorId' }),
  urgent: boolean({ default: false }),
  secret: text({ nullable: true }),
  created: datetime({ default: 'now' })
})
/** A model with long keys. */
export const Label = defineModel('Label', { id: text() })
/** Two keys, which have nine characters in a query for each of their own. */
export const labels = ['x', 'y'].map((end) => '漢'.repeat(99) + end)

const taskOptions = { search: ['title'], etag: true, readOnly: ['created'], exclude: ['secret'] } as const
type Resources = [{ model: typeof Task } & typeof taskOptions, typeof Person]

export interface Served {
  readonly client: Client<Resources>
  readonly address: string
  /** Method, path and query of each request, and its body. */
  readonly sent: Array<readonly [request: string, body?: unknown]>
}

/** Twelve tasks of two people, by turns; the fourth, the eighth and the twelfth are nobody's. */
const tasks = Array.from({ length: 12 }, (_, index) => ({
  id: index + 1,
  title: ['write', 'read', 'count', 'rest'][index % 4]! + ` ${index + 1}`,
  state: index % 3 === 0 ? 'done' : 'open',
  due: index % 2 === 0 ? null : `2026-03-${String(index + 1).padStart(2, '0')}`,
  person_id: index % 4 === 3 ? null : index % 2 + 1,
  urgent: 0,
  created: '2026-01-01 10:00:00'
}))

/** An API with twelve tasks, which everybody may change. */
export async function serveTasks (
  t: Test, limits: { readonly count?: number, readonly pageBytes?: number } = {},
  prepare: (app: FastifyInstance) => void | Promise<void> = () => {}
): Promise<Served> {
  const sent: Array<readonly [string, unknown?]> = []
  const { app } = await buildApp(t, {
    models: [Person, Task, Label],
    rows: {
      person: [{ id: 1, name: 'Ann' }, { id: 2, name: 'Ben' }],
      task: tasks,
      label: labels.map((id) => ({ id }))
    },
    register: (registry) => {
      registry.register(Task, taskOptions)
      registry.register(Person)
      registry.register(Label, { maxLimit: 100 })
    },
    options: { defaultAuth: openAuth(), maxLimit: 5, limits },
    prepare: async (app) => {
      await prepare(app)
      app.addHook('preHandler', async ({ method, url, body }) => {
        const hasBody = method === 'POST' || method === 'PUT'
        sent.push(hasBody ? [`${method} ${url}`, JSON.parse(String(body))] : [`${method} ${url}`])
      })
    }
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  return { client: createClient<Resources>({ baseUrl: address }), address, sent }
}

/** What a promise is rejected with. */
export async function errorOf (answer: Promise<unknown>): Promise<unknown> {
  return await answer.then(() => undefined, (error: unknown) => error)
}
