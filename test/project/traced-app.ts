import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import Fastify from 'fastify'
import restModels, {
  boolean, createTables, defineModel, foreignKey, hashPassword, password, text, userAuth
} from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'

/** A process that prints, for some warm requests, what they run of lib and schemas. */

/** Functions of a request by file, and the frames between its handler and the driver at each call of the driver. */
export interface Trace {
  readonly files: Readonly<Record<string, readonly string[]>>
  readonly frames: ReadonlyArray<readonly string[]>
}

const User = defineModel('User', {
  username: text({ unique: true }), password: password(), active: boolean({ default: true })
})
const Message = defineModel('Message', { user: foreignKey(() => User), content: text() })

const path = process.argv[2] ?? ''
const db = openSqlite(path)
await createTables(db, [User, Message])
await db.insertInto('user').values({ username: 'alice', password: await hashPassword('secret'), active: 1 }).execute()
await db.insertInto('message').values({ user_id: 1, content: 'x' }).execute()
const app = Fastify()
await app.register(restModels, { db, defaultAuth: userAuth(User) })
app.restModels.register(User, { exclude: ['password'] }).register(Message, { ownerField: 'user' })
await app.restModels.setup()

const headers = {
  authorization: `Basic ${Buffer.from('alice:secret').toString('base64')}`, 'content-type': 'application/json'
}
const body = { content: 'y' }
const requests = {
  read: { url: '/api/message/1/' },
  list: { url: '/api/message/?user__username=alice&limit=5' },
  create: { url: '/api/message/', method: 'POST', headers, body },
  update: { url: '/api/message/1/', method: 'PUT', headers, body },
  delete: { url: '/api/message/1/', method: 'DELETE', headers }
} as const

const frames: string[][] = []
watchDriver()
for (let round = 0; round < 10; round++) for (const name of ['read', 'list', 'create'] as const) await send(name)
const traces: Record<string, Trace> = {}
for (const name of Object.keys(requests) as Array<keyof typeof requests>) traces[name] = await trace(name)
console.log(JSON.stringify(traces))
await app.close()
await db.destroy()

async function send (name: keyof typeof requests): Promise<void> {
  const { statusCode, body } = await app.inject(requests[name])
  if (statusCode >= 300) throw new Error(`${name} was answered with ${statusCode}: ${body}`)
}

async function trace (name: keyof typeof requests): Promise<Trace> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await sleep(100)
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage')
  frames.length = 0
  await send(name)
  await sleep(20)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const files = result.flatMap(({ url, functions }) => {
    const { 1: file } = /\/((?:lib|schemas)\/.*)\.ts$/.exec(url) ?? []
    // A function from the beginning of its file is the module itself.
    const called = functions
      .filter(({ ranges: [range] }) => range !== undefined && range.startOffset > 0 && range.count > 0)
    // These are made by the loader that compiles the tests.
    const names = called.map(({ functionName }) => functionName).filter((name) => !/^(?:__name|<.*>)$/.test(name))
    return file === undefined || names.length === 0 ? [] : [[file, names]]
  })
  return { files: Object.fromEntries(files) as Trace['files'], frames: [...frames] }
}

/** Notes the frames of lib at each call of the driver. */
function watchDriver (): void {
  Error.stackTraceLimit = 50
  const statement = new Database(':memory:').prepare('select 1')
  const prototype = Object.getPrototypeOf(statement) as Record<'get' | 'all' | 'run', (...given: unknown[]) => unknown>
  for (const name of ['get', 'all', 'run'] as const) {
    const { [name]: call } = prototype
    prototype[name] = function (...given) {
      const stack = String(new Error('here').stack).split('\n').filter((line) => line.includes('/lib/'))
      const handler = stack.findIndex((line) => line.includes('/lib/routes/handlers.'))
      if (handler !== -1) frames.push(stack.slice(0, handler))
      return call.apply(this, given)
    }
  }
}
