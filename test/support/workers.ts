import { fork, type ChildProcess, type Serializable } from 'node:child_process'
import { once } from 'node:events'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Test } from 'tap'
import restModels, { createTables } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite, type SqliteOptions } from '../../lib/sqlite.js'
import { registerSite, siteModels, siteUsers } from './site.js'
import { bundleScript } from './bundle-script.js'
import { checked, requireSound } from './process.js'

/** Another process, which is ended with the test at the latest. */
export interface Worker<Message> {
  readonly child: ChildProcess
  /** The next message that it sends. */
  next (): Promise<Message>
  send (message: Serializable): void
}

/** Starts a script of `test`, in TypeScript. */
export function startWorker<Message> (
  t: Pick<Test, 'teardown'>, script: string, ...parameters: string[]
): Worker<Message> {
  const child = fork(bundleScript(`test/${script}`), parameters, { execArgv: [...checked] })
  requireSound(child, script)
  const messages: Message[] = []
  const waiting: Array<{ resolve: (message: Message) => void, reject: (error: Error) => void }> = []
  child.on('message', (message) => {
    const [first] = waiting.splice(0, 1)
    if (first === undefined) messages.push(message as Message)
    else first.resolve(message as Message)
  })
  child.once('exit', () => { for (const { reject } of waiting) reject(new Error(`${script} ended`)) })
  t.teardown(async () => { await endWorker(child) })
  return {
    child,
    next: async () => await new Promise((resolve, reject) => {
      if (messages.length > 0) resolve(messages.shift() as Message)
      else if (hasEnded(child)) reject(new Error(`${script} ended`))
      else waiting.push({ resolve, reject })
    }),
    send: (message) => { child.send(message) }
  }
}

function hasEnded ({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Ends a process without a chance to clean up. */
export async function endWorker (child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** The example project on a database file, which is made and filled with its users if it is new. */
export async function openSite (
  path: string, options?: SqliteOptions
): Promise<{ readonly app: FastifyInstance, readonly db: Kysely<Tables> }> {
  const db = openSqlite(path, options)
  await createTables(db, siteModels)
  const isNew = await db.selectFrom('user').select('id').limit(1).executeTakeFirst() === undefined
  for (const user of isNew ? await siteUsers() ?? [] : []) {
    await db.insertInto('user').values(user).onConflict((conflict) => conflict.doNothing()).execute()
  }
  const app = Fastify()
  app.addHook('onClose', async () => { await db.destroy() })
  await app.register(restModels, { db })
  registerSite(app.restModels)
  await app.restModels.setup()
  await app.ready()
  return { app, db }
}
