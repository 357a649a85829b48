// @once: starts its own servers
// @alone: ends processes with their servers
// @long: starts and ends servers of its own

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type Test } from 'tap'
import { bundleScript } from '../support/bundle-script.js'
import {
  engineNames, findEngine, findEngineForRun, variableOf, type EngineName, type FoundEngine
} from '../support/engines/find-engine.js'
import { lacks } from '../support/engines/lacks.js'
import { startMariadb } from '../support/engines/mariadb-server.js'
import { startPostgres } from '../support/engines/postgres-server.js'
import type { PrivateServer } from '../support/engines/private-server.js'
import { runSql } from '../support/engines/sql.js'
import { createDatabase } from '../support/engines/test-database.js'
import { waitFor } from '../support/engines/wait-for.js'

const starts = { postgres: startPostgres, mariadb: startMariadb }
const databases = {
  postgres: 'select datname as name from pg_database',
  mariadb: 'select schema_name as name from information_schema.schemata'
}

/** Ids of the processes whose working directory is in a folder, such as all those of a server; on Linux only. */
function processesIn (folder: string): string[] {
  if (!existsSync('/proc')) return []
  return readdirSync('/proc').filter((name) => {
    try {
      return readlinkSync(`/proc/${name}/cwd`).startsWith(folder)
    } catch {
      return false
    }
  })
}

async function startDurable (t: Test, engine: EngineName): Promise<PrivateServer> {
  const server = await starts[engine]({ durable: true })
  t.teardown(server.stop)
  return server
}

for (const engine of engineNames) {
  test(`a private ${engine} keeps what was committed through SIGKILL and leaves nothing behind`, async (t) => {
    if (lacks(t, engine)) return
    const { url, port, folder, ...server } = await startDurable(t, engine)
    t.equal(new URL(url).host, `127.0.0.1:${port}`)
    await runSql(url, 'create table kept (id int primary key)')
    await runSql(url, 'insert into kept values (7)')
    await server.kill('SIGKILL')
    await t.rejects(runSql(url, 'select id from kept', 1000))
    await server.restart()
    t.strictSame(Array.from(await runSql(url, 'select id from kept'), ({ id }) => id), [7])
    if (process.platform === 'linux') t.not(processesIn(folder).length, 0)
    await server.stop()
    t.notOk(existsSync(folder))
    t.strictSame(processesIn(folder), [])
  })

  test(`a private ${engine} that cannot start says why, and leaves nothing behind`, async (t) => {
    if (lacks(t, engine)) return
    await t.rejects(starts[engine]({ settings: { no_such_setting: 1 } }), {
      message: /ended at its start:\n[^]*no.such.setting/
    })
  })

  test(`${engine}: the server that the environment names comes first, and a database on it is dropped`, async (t) => {
    if (lacks(t, engine)) return
    const { url } = await startDurable(t, engine)
    const variable = variableOf(engine)
    const found = await findEngine(engine, { [variable]: url })
    t.match(found, { url, how: `${variable}, ${url}` })
    const database = await createDatabase(url)
    t.ok((await runSql(url, databases[engine])).some(({ name }) => name === database.name))
    await runSql(database.url, 'create table filled (id int primary key)')
    const open =
      runSql(database.url, engine === 'postgres' ? 'select pg_sleep(60)' : 'select sleep(60)').catch(() => 'ended')
    await sleep(100)
    await database.drop()
    await open
    t.notOk((await runSql(url, databases[engine])).some(({ name }) => name === database.name))
  })

  test(`${engine}: a run has a private server, or the one that the environment names`, async (t) => {
    if (lacks(t, engine)) return
    const { url = '', how, stop } = await findEngineForRun(engine, {}) as FoundEngine
    t.match(how, /^a private server \(/)
    t.match(await findEngineForRun(engine, { [variableOf(engine)]: url }), { url, how: variableOf(engine) })
    await stop()
    await t.rejects(runSql(url, 'select 1', 1000))
  })

  test(`${engine}: an unusable server in the environment is an error without the password`, async (t) => {
    const variable = variableOf(engine)
    const url = `${engine}://someone:a%20secret@127.0.0.1:1/place?password=secret`
    const error = await findEngine(engine, { [variable]: url }).then(() => undefined, (error: Error) => error)
    t.match(
      error?.message,
      `${variable} names ${engine}://someone@127.0.0.1:1/place, which cannot be used: connect ECONNREFUSED 127.0.0.1:1.`
    )
    t.notMatch(error?.message, 'secret')
    await t.rejects(findEngine(engine, { [variable]: 'secret' }), {
      message: /^(?!.*secret)(POSTGRES|MARIADB)_URL is not a URL such as /
    })
  })
}

test('a server ends with the process that started it, if that did not stop it', async (t) => {
  if (lacks(t, 'postgres')) return
  const leaver = fork(bundleScript('test/project/leaver.ts'), { execArgv: [] })
  const [[, folder]] = await once(leaver, 'message') as [[number, string]]
  leaver.kill('SIGTERM')
  t.strictSame(await once(leaver, 'exit'), [null, 'SIGTERM'])
  await waitFor('it has ended', async () => processesIn(folder).length === 0, 5000)
  await waitFor('the folder is removed', async () => !existsSync(folder), 5000)
})
