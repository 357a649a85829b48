import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import type { Kysely } from 'kysely'
import type { Test } from 'tap'
import restModels, { createTables, datetime, defineModel, foreignKey, openAuth, text } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { readPage } from '../documentation/page.js'
import type { ServerUser } from '../support/engines/owned-process.js'

const Author = defineModel('Author', { name: text() })
const Entry = defineModel('Entry', {
  author: foreignKey(() => Author), label: text({ unique: true }), at: datetime({ default: 'now' })
})

/** An app of this process on a database, which is closed with it; @throws if the tables are not those of the models */
async function serve (t: Test, db: Kysely<Tables>) {
  const app = Fastify()
  app.addHook('onClose', async () => { await db.destroy() })
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db, defaultAuth: openAuth() })
  app.restModels.register(Author)
  app.restModels.register(Entry)
  await app.restModels.setup()
  const create = async (label: string): Promise<number> =>
    (await app.inject({ method: 'POST', url: '/api/entry/', payload: { author: 1, label } })).statusCode
  return { app, create }
}

/** An app that is written to all the time. */
export interface Writing {
  /** The labels of the writes that were acknowledged until now. */
  acknowledged (): readonly string[]
  /** Waits until it has written some more. */
  goOn (): Promise<void>
  /** Ends the writes, and the app. @returns the statuses that are not 201 */
  stop (): Promise<readonly number[]>
}

const lanes = ['a', 'b', 'c', 'd']

export async function startWriting (t: Test, db: Kysely<Tables>): Promise<Writing> {
  await createTables(db, [Author, Entry])
  await db.insertInto('author').values({ name: 'somebody' }).execute()
  const { app, create } = await serve(t, db)
  const acknowledged: string[] = []
  const failed: number[] = []
  const stopped = new AbortController()
  const write = async (lane: string): Promise<void> => {
    for (let number = 0; !stopped.signal.aborted; number++, await sleep(1)) {
      const label = `${lane}-${number}`
      const status = await create(label)
      if (status === 201) acknowledged.push(label)
      else failed.push(status)
    }
  }
  const written = Promise.all(lanes.map(write))
  const goOn = async (): Promise<void> => {
    for (const before = acknowledged.length; acknowledged.length < before + 20;) await sleep(5)
  }
  await goOn()
  return {
    acknowledged: () => [...acknowledged],
    goOn,
    stop: async () => {
      stopped.abort()
      await written
      await app.close()
      return failed
    }
  }
}

/** Serves what was restored: it must have every write, once, and take others. @returns the labels that it has */
export async function checkRestored (t: Test, db: Kysely<Tables>, wanted: readonly string[]): Promise<Set<unknown>> {
  const { create } = await serve(t, db)
  const rows = await db.selectFrom('entry').select('label').execute()
  const labels = new Set(rows.map(({ label }) => label))
  t.ok(wanted.length > 0)
  t.same(wanted.filter((label) => !labels.has(label)), [], `all of ${wanted.length} writes are there`)
  t.equal(rows.length, labels.size)
  t.equal(await create('after the restore'), 201, 'and it is written to')
  t.equal(await create('after the restore'), 409, 'with its constraints')
  return labels
}

const { blocks } = readPage('docs/backups.md')

/** The blocks of a section in one language, in their order. */
export function blocksOf (section: string, language: string): readonly string[] {
  const found = blocks.filter((block) => block.section === section && block.language === language)
  if (found.length === 0) throw new Error(`'${section}' has no block of ${language}`)
  return found.map(({ content }) => content)
}

/** Texts of the page, and what stands in their place here. */
export type Places = Readonly<Record<string, string>>

export function inPlace (text: string, places: Places): string {
  return Object.entries(places).reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
}

interface Shell {
  readonly places: Places
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly user?: ServerUser | undefined
}

/** Types the commands of a block, the first failure of which ends it. @throws with what they printed, if they fail */
export async function follow (commands: string | undefined, shell: Shell): Promise<void> {
  const { ended } = begin(commands, shell)
  const { code, printed } = await ended
  if (code !== 0) throw new Error(`${commands} ended with ${code}:\n${printed}`)
}

/** Begins to run the commands of a block. */
export function begin (commands: string | undefined, { places, cwd = '/', env = {}, user }: Shell) {
  const script = inPlace(String(commands), places)
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    ...user, cwd, env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true
  })
  let printed = ''
  const add = (chunk: Buffer): void => { printed += chunk.toString() }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', add)
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, printed })) }
}
