// @once: starts its own servers
// @alone: starts and ends processes
// @long: makes servers, copies them and restores them

import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import tap, { test, type Test } from 'tap'
import { openMariadb } from '../../lib/mariadb.js'
import { freePort } from '../support/engines/free-port.js'
import { lacks } from '../support/engines/lacks.js'
import { planMariadb, startMariadb } from '../support/engines/mariadb-server.js'
import { serverUser } from '../support/engines/owned-process.js'
import { startServer, type PrivateServer, type Settings } from '../support/engines/private-server.js'
import { makeFolder, type ServerFolder } from '../support/engines/server-folder.js'
import { runSql } from '../support/engines/sql.js'
import { waitFor } from '../support/engines/wait-for.js'
import { begin, blocksOf, checkRestored, follow, startWriting, type Places, type Writing } from './drill.js'

tap.setTimeout(120_000)

const files = 'MariaDB: a copy of the files'
const anyMoment = 'MariaDB: any moment'

interface Drill {
  readonly server: PrivateServer
  readonly writing: Writing
  /** A folder for the copies. */
  readonly backups: ServerFolder
  readonly places: Places
}

test('MariaDB under writes', async (t) => {
  if (lacks(t, 'mariadbBackups')) return
  const backups = makeFolder('backups', undefined)
  t.teardown(() => { backups.remove() })
  mkdirSync(join(backups.path, 'binlog'))
  const server = await startMariadb({ settings: settingsOf(blocksOf(anyMoment, 'ini')[0] ?? '') })
  t.teardown(server.stop)
  await runSql(server.url, 'create database site character set utf8mb4')
  const writing = await startWriting(t, openMariadb(siteOf(server, 'site')))
  const drill = { server, writing, backups, places: { '/var/backups/site': backups.path } }
  await t.test('D-242: a dump has every write before it', async (t) => { await restoreDump(t, drill) })
  await t.test('D-242: a copy of the files and the log have every write before a moment, and none after', async (t) => {
    await restoreMoment(t, drill)
  })
  t.same(await writing.stop(), [], 'no write failed')
})

async function restoreDump (t: Test, { server, writing, places }: Drill): Promise<void> {
  const [copy, restore] = blocksOf('MariaDB: a dump', 'sh')
  const shell = { places, env: clientOf(t, server) }
  await runSql(siteOf(server, 'site'), 'create event tidy on schedule every 1 day do delete from entry where id < 0')
  await runSql(siteOf(server, 'site'), 'create procedure tidy_now() delete from entry where id < 0')
  await runSql(siteOf(server, 'site'), 'create trigger trimmed before insert on entry for each row ' +
    'set new.label = trim(new.label)')
  const acknowledged = writing.acknowledged()
  await follow(copy, shell)
  t.ok(writing.acknowledged().length > acknowledged.length, 'writes went on')
  await follow(restore, shell)
  const programs = 'select routine_name as name from information_schema.routines where routine_schema = database() ' +
    'union all select event_name from information_schema.events where event_schema = database() ' +
    'union all select trigger_name from information_schema.triggers where trigger_schema = database() order by 1'
  t.strictSame((await runSql(siteOf(server, 'restored'), programs)).map(({ name }) => name),
    ['tidy', 'tidy_now', 'trimmed'])
  await checkRestored(t, openMariadb(siteOf(server, 'restored')), acknowledged)
}

async function restoreMoment (t: Test, { server, writing, places, backups }: Drill): Promise<void> {
  const [copy, restore] = blocksOf(files, 'sh')
  const [copyLog, repeatLog] = blocksOf(anyMoment, 'sh')
  const shell = { places, env: clientOf(t, server) }
  const stopCopying = copyAlways(t, copyLog, shell)
  const first = writing.acknowledged()
  await follow(copy, shell)
  t.ok(writing.acknowledged().length > first.length, 'writes went on')
  await writing.goOn()
  const acknowledged = writing.acknowledged()
  const moment = await nextSecond(server)
  await runSql(siteOf(server, 'site'), "insert into entry (author_id, label, at) values (1, 'mistake', '2026-11-20')")
  await waitUntilCopied(server, backups)
  stopCopying()
  const restored = await restoreFiles(t, restore, shell)
  const labels = (await runSql(siteOf(restored, 'site'), 'select label from entry')).map(({ label }) => label)
  t.same(first.filter((label) => !labels.includes(label)), [], 'the files have every write before their copy')
  await follow(repeatLog, {
    env: { ...clientOf(t, restored), TZ: 'UTC' }, places: { ...places, '2026-11-20 15:04:05': moment }
  })
  const found = await checkRestored(t, openMariadb(siteOf(restored, 'site')), acknowledged)
  t.notOk(found.has('mistake'))
}

/** Begins a command that does not end by itself. Call the result to end it. */
function copyAlways (t: Test, command: string | undefined, shell: Parameters<typeof begin>[1]): () => void {
  const { child, ended } = begin(command, shell)
  let isWanted = true
  const stop = (): void => {
    if (isWanted) process.kill(-Number(child.pid), 'SIGTERM')
    isWanted = false
  }
  ended.then(({ printed }) => { if (isWanted) t.fail(`the copy of the log ended: ${printed}`) }, t.threw)
  t.teardown(stop)
  return stop
}

/** The first second in which everything that happened before the call is over. */
async function nextSecond ({ url }: PrivateServer): Promise<string> {
  const now = async (): Promise<string> =>
    String((await runSql(url, "select date_format(utc_timestamp(), '%Y-%m-%d %H:%i:%s') as now"))[0]?.['now'])
  const last = await now()
  let next = last
  await waitFor('the next second', async () => (next = await now()) > last)
  return next
}

async function waitUntilCopied ({ url }: PrivateServer, { path }: ServerFolder): Promise<void> {
  const [row] = await runSql(url, 'show master status')
  const copied = join(path, 'binlog', String(row?.['File']))
  await waitFor('the log is copied', async () => statSync(copied).size >= Number(row?.['Position']))
}

async function restoreFiles (
  t: Test, commands: string | undefined, shell: Parameters<typeof follow>[1]
): Promise<PrivateServer> {
  const user = serverUser('mysql')
  const folder = makeFolder('restored', user)
  const owner = `${user?.uid ?? process.getuid?.()}:${user?.gid ?? process.getgid?.()}`
  await follow(commands, {
    ...shell, places: { ...shell.places, '/var/lib/mysql': folder.data, 'mysql:mysql': owner }
  })
  const server = await startServer(planMariadb(folder, await freePort(), {}))
  t.teardown(server.stop)
  return server
}

/** An environment in which MariaDB's programs talk to a server, as its administrator. */
function clientOf (t: Test, { port }: PrivateServer): Readonly<Record<string, string>> {
  const home = makeFolder('home', undefined)
  t.teardown(() => { home.remove() })
  writeFileSync(join(home.path, '.my.cnf'), `[client-server]\nhost=127.0.0.1\nuser=root\nport=${port}\n`)
  return { HOME: home.path }
}

/** The settings of a block of the server's configuration. */
function settingsOf (block: string): Settings {
  return Object.fromEntries(block.split('\n').map((line) => {
    const [name = '', value = ''] = line.split(' = ')
    return [name, value]
  }))
}

function siteOf ({ url }: PrivateServer, database: string): string {
  return new URL(`/${database}`, url).href
}
