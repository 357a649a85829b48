// @once: about types, which no engine sees
// @long: compiles programs that use the package

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { compile } from '../support/compile.js'

const sources = {
  'database.ts': `
    import { openMariadb } from 'fastify-rest-models/mariadb'
    import { openPostgres } from 'fastify-rest-models/postgres'
    import { openSqlite } from 'fastify-rest-models/sqlite'
    export const sqlite = openSqlite('./site.db')
    export const postgres = openPostgres('postgres://localhost/site')
    export const mariadb = openMariadb('mariadb://localhost/site')`,
  'models.ts': `
    import {
      bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, key, number, password, text,
      uuid
    } from 'fastify-rest-models'
    export const Country = defineModel('Country', { id: key(), name: text() })
    export const User = defineModel('User', {
      id: integer(), username: text({ unique: true }), password: password(), active: boolean({ default: true }),
      admin: boolean(), company: integer({ nullable: true })
    })
    export const Task = defineModel('Task', {
      id: uuid({ clientGenerated: true }), user: foreignKey(() => User),
      country: foreignKey(() => Country, { nullable: true }),
      title: text(), state: text({ enum: ['open', 'done'] }), day: date(), at: datetime({ default: 'now' }),
      price: decimal({ precision: 5, scale: 2 }), size: number(), count: bigint(), tags: json()
    })`,
  'policies.ts': `
    import { adminAuth, hostAuth, openAuth, readOnlyAuth, userAuth, userOf } from 'fastify-rest-models'
    import { User } from './models.js'
    export const users = userAuth(User, { protect: 'all', fields: ['company'] })
    export const admins = adminAuth(User)
    export const host = hostAuth(() => ({ id: 1, company: 2 }), { protect: 'all' })
    export const anybody = openAuth()
    export const readers = readOnlyAuth()
    export const findUser = userOf`,
  'app.ts': `
    import Fastify from 'fastify'
    import restModels from 'fastify-rest-models'
    import { inspect, introspect } from 'fastify-rest-models/tools'
    import { sqlite } from './database.js'
    import { Task } from './models.js'
    import { users } from './policies.js'
    export const app = Fastify()
    await app.register(restModels, { db: sqlite })
    export const registry = app.restModels.register(Task, {
      auth: users, scope: ({ company }) => ({ user__company: company })
    })
    export const hooks = app.restModels.guard(Task, 'update')
    export const health = await app.restModels.health()
    export const inspection = await inspect(app)
    export const introspection = await introspect(sqlite)`,
  'client.ts': `
    import { createClient, type ListQuery } from 'fastify-rest-models/client'
    import { createDataProvider } from 'fastify-rest-models/react-admin'
    import { createDataProvider as createRefineProvider } from 'fastify-rest-models/refine'
    import type { Task, User } from './models.js'
    export const client = createClient<[typeof User, typeof Task]>({ baseUrl: 'https://example.com' })
    export const page = await client.task.list({ include: ['user'], count: true })
    export const task = await client.task.read('00000000-0000-7000-8000-000000000001')
    export const { task: tasks, user: users } = client
    export const { meta } = page
    export const listAll = async (query: ListQuery<typeof Task>) => {
      const { meta, objects } = await client.task.list(query)
      // @ts-expect-error the query may have no count
      meta.count satisfies number
      return { meta, objects }
    }
    export const listSome = async (count: true | undefined, include: ['user'] | undefined) => {
      const { meta, objects: [first] } = await client.task.list({ count, include })
      // @ts-expect-error it may be undefined
      meta.count satisfies number
      // @ts-expect-error it may be undefined
      first?.user satisfies object | null
      return await client.task.read('00000000-0000-7000-8000-000000000001', { include })
    }
    export const readSome = async (options: { include?: ['user'] }) => {
      const task = await client.task.read('00000000-0000-7000-8000-000000000001', options)
      // @ts-expect-error it may be absent
      return task.user satisfies object | null
    }
    export const provider = createDataProvider(client)
    export const refine = createRefineProvider(client)`
}

/** What the compiler says of the sources as part of a package that publishes its types, with ours installed. */
function mistakes (folder: string): readonly string[] {
  const installed = join(folder, 'node_modules', 'fastify-rest-models')
  cpSync('package.json', join(installed, 'package.json'))
  for (const part of ['lib', 'schemas']) cpSync(join('dist', part), join(installed, 'dist', part), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "site", "type": "module" }')
  for (const [name, content] of Object.entries(sources)) writeFileSync(join(folder, name), content)
  const settings = { noEmit: false, declaration: true, emitDeclarationOnly: true, outDir: join(folder, 'out') }
  return compile(Object.keys(sources).map((name) => join(folder, name)), settings)
}

test('a package with `declaration: true` exports databases, models, policies and clients as they are', (t) => {
  const folder = mkdtempSync(join(resolve('dist'), 'declarations-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  t.same(mistakes(folder), [])
  t.end()
})
