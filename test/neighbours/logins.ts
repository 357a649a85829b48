import jwt from '@fastify/jwt'
import secureSession from '@fastify/secure-session'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { fromNodeHeaders } from 'better-auth/node'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Test } from 'tap'
import restModels, {
  createTables, defineModel, hostAuth, text, type ClosedPolicy, type HostAuthOptions, type Identity
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { checkAnswers } from '../support/answers.js'

export const Note = defineModel('Note', { author: text(), message: text() })

interface Writer extends Identity { readonly isEditor: boolean }

type Policy = ClosedPolicy<Writer>
type Options = HostAuthOptions<Writer> & { readonly protect: 'all' }
type Headers = Readonly<Record<string, string>>

/** A login that a host has, in the words of its own documentation. */
interface Login {
  readonly challenge: string
  /** Headers of somebody who is not logged in, but seems so. */
  readonly wrong: Headers
  /** Adds the login to a host, and returns the policy for it. */
  add (app: FastifyInstance, db: Kysely<Tables>): Promise<Policy>
  /** Logs somebody in, and returns the headers of a request of that user. */
  logIn (app: FastifyInstance, name: string): Promise<Headers>
}

const options = {
  protect: 'all', permits: (user, operation) => operation !== 'delete' || user.isEditor
} as const satisfies Options

/** Ann is an editor. */
const isEditor = (name: string | undefined): boolean => name === 'ann'

async function cookieOf (app: FastifyInstance, url: string, payload: object): Promise<Headers> {
  const { headers: { 'set-cookie': cookies = [] } } = await app.inject({ method: 'POST', url, payload })
  return { cookie: [cookies].flat().map((cookie) => cookie.replace(/;.*/, '')).join('; ') }
}

const byCookie = (name: string) => ({ ...options, scheme: { type: 'apiKey', in: 'cookie', name } }) as const

export const logins: Readonly<Record<string, Login>> = {
  '@fastify/jwt': {
    challenge: 'Bearer realm="Login Required"',
    wrong: { authorization: 'Bearer e30.e30.e30' },
    async add (app) {
      await app.register(jwt, { secret: 'at least 32 characters, and secret' })
      return hostAuth(async (request) => {
        const token = await request.jwtVerify<{ readonly sub: string }>().catch(() => null)
        return token && { id: token.sub, isEditor: isEditor(token.sub) }
      }, { ...options, scheme: { type: 'http', scheme: 'bearer' } })
    },
    async logIn (app, name) {
      return { authorization: `Bearer ${app.jwt.sign({ sub: name })}` }
    }
  },
  '@fastify/secure-session': {
    challenge: 'ApiKey realm="Login Required"',
    wrong: { cookie: 'session=forged%3Bforged' },
    async add (app) {
      await app.register(secureSession, { key: Buffer.alloc(32), cookie: { path: '/', httpOnly: true } })
      app.post<{ Params: { readonly name: string } }>('/login/:name', async ({ params: { name }, session }) => {
        session.set('user', { id: name, isEditor: isEditor(name) })
        return { name }
      })
      app.post('/logout', async ({ session }) => {
        session.delete()
        return {}
      })
      return hostAuth<Writer>(({ session }) => session.get('user'), byCookie('session'))
    },
    logIn: async (app, name) => await cookieOf(app, `/login/${name}`, {})
  },
  'better-auth': {
    challenge: 'ApiKey realm="Login Required"',
    wrong: { cookie: 'better-auth.session_token=forged.forged' },
    async add (app, db) {
      const auth = betterAuth({
        baseURL: 'http://localhost',
        secret: 'at least 32 characters, and secret',
        logger: { disabled: true },
        database: { db, type: 'sqlite' },
        emailAndPassword: { enabled: true }
      })
      await (await getMigrations(auth.options)).runMigrations()
      app.all('/api/auth/*', async ({ method, url, headers, body }, reply) =>
        await reply.send(await auth.handler(new Request(new URL(url, 'http://localhost'), {
          method, headers: fromNodeHeaders(headers), ...(body ? { body: JSON.stringify(body) } : {})
        }))))
      return hostAuth(async ({ headers }) => {
        const found = await auth.api.getSession({ headers: fromNodeHeaders(headers) })
        return found && { id: found.user.id, isEditor: isEditor(found.user.name) }
      }, byCookie('better-auth.session_token'))
    },
    logIn: async (app, name) => await cookieOf(
      app, '/api/auth/sign-up/email', { name, email: `${name}@example.com`, password: 'correct horse' })
  }
}

declare module '@fastify/secure-session' {
  interface SessionData { user: Writer }
}

/** A host with a login, whose users see their own notes alone; closed when the test ends. */
export async function buildHost (t: Test, login: Login): Promise<FastifyInstance> {
  const db = openSqlite<Tables>(':memory:')
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => {
    await app.close()
    await db.destroy()
  })
  await createTables(db, [Note])
  const auth = await login.add(app, db)
  await app.register(restModels, { db })
  app.restModels.register(Note, { auth, scope: (user) => ({ author: String(user.id) }) })
  await app.restModels.setup()
  return app
}
