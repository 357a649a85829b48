import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { crash } from '../failover/processes.js'
import { exampleSite } from '../reliability/example-site.js'
import { killRounds, type KillReport, type KillSite } from '../reliability/kill-rounds.js'
import { outboxSite } from '../reliability/outbox-site.js'
import { startMariadb } from '../support/engines/mariadb-server.js'
import { startPostgres } from '../support/engines/postgres-server.js'
import { whyMissing } from '../support/engines/programs.js'
import { readNumbers } from './numbers.js'
import { inFolder, type Teardown } from './undo.js'

/**
 * npm run crash [-- --rounds=100 --servers=30 --seed=1]: kills an app under write load, and counts what is missing
 * afterwards. First the example app, then one whose writes have an outbox: on a file, and on a private PostgreSQL and
 * MariaDB, which are killed as well.
 */

const { rounds, servers, seed } = readNumbers({ rounds: 100, servers: 30, seed: 1 })

process.exitCode = await inFolder(async (folder, t) => {
  let faults = await report(t, 'the example app', exampleSite(folder), rounds)
  const outbox = join(folder, 'outbox')
  mkdirSync(outbox)
  faults += await report(t, 'an outbox on SQLite', await outboxSite(join(outbox, 'site.db')), rounds)
  for (const [engine, start] of Object.entries({ postgres: startPostgres, mariadb: startMariadb })) {
    const missing = whyMissing(engine as 'postgres' | 'mariadb')
    if (missing !== undefined) console.log(`${engine}: ${missing}`)
    else faults += await onServer(t, engine, start)
  }
  return faults === 0 ? 0 : 1
})

async function onServer (t: Teardown, engine: string, start: typeof startPostgres): Promise<number> {
  const server = await start({ durable: true })
  t.teardown(server.stop)
  return await report(t, `an outbox on ${engine}`, await outboxSite(server.url), servers) +
    await onKilledServer(t, engine, start)
}

async function onKilledServer (t: Teardown, engine: string, start: typeof startPostgres): Promise<number> {
  const server = await start({ durable: true })
  t.teardown(server.stop)
  const site = await outboxSite(server.url, async () => {
    await crash(server)
    return server.restart
  })
  return await report(t, `an outbox on ${engine}, which is killed`, site, servers)
}

/** Returns how many faults there were. */
async function report (t: Teardown, name: string, site: KillSite, rounds: number): Promise<number> {
  let last: KillReport | undefined
  for await (last of killRounds(t, { site, rounds, seed })) {
    if (last.rounds % 10 === 0 || last.rounds === rounds) console.log(`${name}: ${toLine(last)}`)
  }
  const faults = [...last?.lost ?? [], ...last?.halfDone ?? [], ...last?.damages ?? []]
  for (const fault of faults) console.log(fault)
  return faults.length
}

function toLine ({ rounds, acknowledged, lost, halfDone, damages }: KillReport): string {
  return `rounds killed ${rounds}, writes acknowledged ${acknowledged}, lost ${lost.length}, ` +
    `half done ${halfDone.length}, damaged ${damages.length} (seed ${seed})`
}
