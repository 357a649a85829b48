// @once: starts its own servers
// @alone: starts and ends processes
// @long: makes clusters, copies them and restores them

import { dirname } from 'node:path'
import tap, { test, type Test } from 'tap'
import { openPostgres } from '../../lib/postgres.js'
import { lacks } from '../support/engines/lacks.js'
import { serverUser } from '../support/engines/owned-process.js'
import { runPostgres, startPostgres } from '../support/engines/postgres-server.js'
import type { PrivateServer, Settings } from '../support/engines/private-server.js'
import { requirePrograms } from '../support/engines/programs.js'
import { makeFolder, type ServerFolder } from '../support/engines/server-folder.js'
import { runSql } from '../support/engines/sql.js'
import { waitFor } from '../support/engines/wait-for.js'
import { blocksOf, checkRestored, follow, inPlace, startWriting, type Places, type Writing } from './drill.js'

tap.setTimeout(120_000)

const dump = 'PostgreSQL: a dump'
const anyMoment = 'PostgreSQL: any moment'

/** What the tests of one server share. */
interface Drill {
  readonly server: PrivateServer
  readonly writing: Writing
  readonly places: Places
  readonly follow: (commands: string | undefined, more?: Places) => Promise<void>
}

test('PostgreSQL under writes', async (t) => {
  if (lacks(t, 'postgresBackups')) return
  const user = serverUser('postgres')
  const folder = makeFolder('backups', user)
  t.teardown(() => { folder.remove() })
  await follow('mkdir "$HOME/wal"', { places: {}, user, env: { HOME: folder.path } })
  const places = { '/var/backups/site': folder.path }
  const server = await startPostgres({ settings: settingsOf(inPlace(blocksOf(anyMoment, 'ini')[0] ?? '', places)) })
  t.teardown(server.stop)
  await runSql(server.url, "create database site encoding 'UTF8' template template0")
  const writing = await startWriting(t, openPostgres(siteOf(server, 'site')))
  const env = { PGHOST: '127.0.0.1', PGPORT: String(server.port), PGUSER: 'postgres', PATH: pathWithPrograms() }
  const drill: Drill = {
    server,
    writing,
    places,
    follow: async (commands, more = {}) => { await follow(commands, { user, env, places: { ...more, ...places } }) }
  }
  await t.test('D-242: a dump has every write before it', async (t) => { await restoreDump(t, drill) })
  await t.test('D-242: a base backup and the archive have every write before a moment, and none after', async (t) => {
    await restoreMoment(t, drill)
  })
  t.same(await writing.stop(), [], 'no write failed')
})

async function restoreDump (t: Test, { server, writing, follow }: Drill): Promise<void> {
  const [copy, restore] = blocksOf(dump, 'sh')
  const acknowledged = writing.acknowledged()
  await follow(copy)
  t.ok(writing.acknowledged().length > acknowledged.length, 'writes went on')
  await follow(restore)
  await checkRestored(t, openPostgres(siteOf(server, 'restored')), acknowledged)
}

async function restoreMoment (t: Test, { server, writing, follow }: Drill): Promise<void> {
  const [copy, restore] = blocksOf(anyMoment, 'sh')
  const before = writing.acknowledged().length
  await follow(copy)
  t.ok(writing.acknowledged().length > before, 'writes went on')
  await writing.goOn()
  const acknowledged = writing.acknowledged()
  const [row] = await runSql(server.url, 'select clock_timestamp()::text as moment')
  await runSql(siteOf(server, 'site'), "insert into entry (author_id, label, at) values (1, 'mistake', now())")
  await writing.goOn()
  const restored = makeFolder('restored', serverUser('postgres'))
  t.teardown(() => { restored.remove() })
  await follow(restore, {
    '/var/lib/postgresql/15/restored': restored.data, '2026-11-20 15:04:05+00': String(row?.['moment'])
  })
  const other = await startRestored(t, restored)
  const labels = await checkRestored(t, openPostgres(siteOf(other, 'site')), acknowledged)
  t.notOk(labels.has('mistake'))
}

async function startRestored (t: Test, folder: ServerFolder): Promise<PrivateServer> {
  const server = await runPostgres(folder, {})
  t.teardown(server.stop)
  await waitFor('the restored server takes writes', async () => {
    const [row] = await runSql(server.url, 'select pg_is_in_recovery() as recovers')
    return row?.['recovers'] === false
  })
  return server
}

/** The settings of a block of postgresql.conf. */
function settingsOf (block: string): Settings {
  return Object.fromEntries(block.split('\n').map((line) => {
    const [, name = '', value = ''] = /^(\w+) = '?(.*?)'?$/.exec(line) ?? []
    return [name, value]
  }))
}

function siteOf ({ url }: PrivateServer, database: string): string {
  return new URL(`/${database}`, url).href
}

/** Where Debian has those of its programs that only administrators use. */
function pathWithPrograms (): string {
  return `${dirname(requirePrograms('postgresBackups').pg_verifybackup)}:${process.env['PATH']}`
}
