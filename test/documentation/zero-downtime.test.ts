// @long: deploys three versions under load

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { test, type Test } from 'tap'
import restModels, { createTables, openAuth, type Model, type ResourceOptions } from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { openSqlite } from '../../lib/sqlite.js'
import { emptyDatabase, engine, openUrl } from '../support/database.js'
import { readPage } from './page.js'

/** The programs of the page, by their names. */
const programs = new Map(readPage('docs/zero-downtime.md').blocks.filter(({ language }) => language === 'js')
  .map(({ content }) => [/^\/\/ (\S+)\n/.exec(content)?.[1] ?? '', content]))

/** Saves the programs inside the package, so that its own name resolves to it. */
function save (t: Test): string {
  const folder = mkdtempSync(join(resolve('dist'), 'page-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  for (const [name, content] of programs) writeFileSync(join(folder, name), content)
  return folder
}

const load = async <Module>(folder: string, name: string): Promise<Module> =>
  await import(pathToFileURL(join(folder, name)).href) as Module

interface Version { readonly Item: Model, readonly options: ResourceOptions }
interface Migration { up (db: Kysely<Tables>): Promise<void> }

/** Opens the same database again and again. */
async function database (t: Test): Promise<() => Kysely<Tables>> {
  if (engine === 'sqlite') {
    const file = join(t.testdir({}), 'site.db')
    return () => openSqlite(file)
  }
  const { url, remove } = await emptyDatabase()
  t.teardown(remove)
  return () => openUrl(url)
}

async function serve (db: Kysely<Tables>, { Item, options }: Version): Promise<FastifyInstance> {
  const app = Fastify()
  app.addHook('onClose', async () => { await db.destroy() })
  await app.register(restModels, { db, defaultAuth: openAuth() })
  app.restModels.register(Item, options)
  await app.restModels.setup()
  return app
}

/** Requests to the running versions in turn; what they answer must be what was acknowledged last. */
class Traffic {
  readonly faults: unknown[] = []
  readonly #acknowledged = new Map<number, number>()
  readonly #stopped = new AbortController()
  /** The answers that are waited for, one of each lane at most. */
  readonly #waiting = new Set<Promise<unknown>>()
  readonly #lanes: Promise<unknown>
  apps: readonly FastifyInstance[]
  requests = 0

  constructor (app: FastifyInstance) {
    this.apps = [app]
    this.#lanes = Promise.all([1, 2, 3].map(async (lane) => { await this.#run(lane) }))
  }

  async #run (lane: number): Promise<void> {
    for (let round = 1; !this.#stopped.signal.aborted; round++, await wait(1)) {
      const pieces = round * 10 + lane
      const id = await this.#ask('POST', '', round % 5 === 0 ? { name: 'x' } : { name: 'x', pieces })
      await this.#ask('GET', `${id}/`)
      await this.#ask('PATCH', `${id}/`, { pieces: pieces + 5 })
      await this.#ask('GET', `${id}/`)
    }
  }

  async #ask (method: 'GET' | 'POST' | 'PATCH', path: string, payload?: { pieces?: number, name?: string }) {
    const app = this.apps[this.requests++ % this.apps.length]
    const sent = app?.inject({ method, url: `/api/item/${path}`, ...payload && { payload } }).then((answer) => answer)
    if (sent !== undefined) this.#waiting.add(sent)
    const answer = await sent?.finally(() => { this.#waiting.delete(sent) })
    const { id = 0, pieces = 0 } = answer?.json<{ id?: number, pieces?: number }>() ?? {}
    const wanted = payload === undefined ? this.#acknowledged.get(id) : payload.pieces ?? 1
    if (Number(answer?.statusCode) >= 300 || pieces !== wanted) this.faults.push([method, answer?.body, wanted])
    this.#acknowledged.set(id, pieces)
    return id
  }

  /** Waits until each app has answered some requests more. */
  async goOn (): Promise<void> {
    for (const before = this.requests; this.requests < before + 60;) await wait(5)
  }

  /** Sends requests to one app alone, and waits until the others have answered theirs. */
  async leaveOthers (app: FastifyInstance): Promise<void> {
    this.apps = [app]
    await Promise.all(this.#waiting)
  }

  async stop (): Promise<ReadonlyMap<number, number>> {
    this.#stopped.abort()
    await this.#lanes
    return this.#acknowledged
  }
}

test('D-243: a column gets another name while two versions at a time serve, and no request fails', async (t) => {
  const folder = save(t)
  const open = await database(t)
  const versions = await Promise.all([1, 2, 3, 4].map(async (number) =>
    await load<Version>(folder, `version-${number}.mjs`)))
  const migrate = async (name: string): Promise<void> => {
    const db = open()
    await (await load<Migration>(folder, `${name}.mjs`)).up(db)
    await db.destroy()
  }
  const [first, ...others] = versions as [Version, ...Version[]]
  const maker = open()
  await createTables(maker, [first.Item])
  await maker.destroy()
  const traffic = new Traffic(await serve(open(), first))
  const before = { 0: '1-expand', 1: '2-backfill' } as Readonly<Record<number, string>>
  for (const [index, version] of others.entries()) {
    await traffic.goOn()
    const migration = before[index]
    if (migration !== undefined) await migrate(migration)
    const [old] = traffic.apps
    const next = await serve(open(), version)
    traffic.apps = [...traffic.apps, next]
    await traffic.goOn()
    await traffic.leaveOthers(next)
    await old?.close()
  }
  await migrate('3-contract')
  await traffic.goOn()
  const acknowledged = await traffic.stop()
  t.same(traffic.faults, [])
  t.ok(traffic.requests > 400)
  const [app] = traffic.apps
  const db = open()
  const rows = await db.selectFrom('item').selectAll().execute()
  t.same(rows.map(({ id, pieces }) => [id, pieces]).sort(), [...acknowledged].sort())
  t.same(Object.keys(rows[0] ?? {}).sort(), ['id', 'name', 'pieces'])
  await db.destroy()
  await app?.close()
})
