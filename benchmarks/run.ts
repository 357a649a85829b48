import { readWanted, usage, type Extent, type Wanted } from './arguments.js'
import type { Case } from './cases.js'
import { DifferentAnswers } from './compare.js'
import { Databases } from './engines/databases.js'
import type { Engine } from './engines/engine.js'
import { openEngine } from './engines/open-engine.js'
import { compile, ownFolder } from './processes/compile.js'
import { findCores, type Cores } from './processes/cores.js'
import { linesOf } from './report/lines.js'
import { busyWarning, describeMachine } from './report/machine.js'
import { writeSection } from './report/results.js'
import { toProfiles, toSection, type Circumstances } from './report/section.js'
import { runCase, type Outcome } from './runners/run-case.js'
import type { Setting } from './runners/setting.js'

/** run.ts [case…] [options]: measures our server against a hand-written one. A full run writes results.md. */

const titles = { sqlite: 'SQLite', postgres: 'PostgreSQL', mariadb: 'MariaDB' }

try {
  process.exitCode = await main(readWanted(process.argv.slice(2)))
} catch (error) {
  const isExpected = error instanceof DifferentAnswers
  console.error(isExpected ? `The servers differ, so nothing is timed:\n${error.message}` : error instanceof Error ? `${error.message}\n${usage}` : error)
  process.exitCode = 1
}

async function main (wanted: Wanted): Promise<number> {
  compile(ownFolder)
  if (wanted.against !== undefined) compile(wanted.against)
  const databases = new Databases(openEngine(process.env['DATABASE_URL']))
  const cores = findCores()
  dropOnSignal(databases)
  try {
    const circumstances = await findCircumstances(databases.engine, cores, wanted)
    for (const note of circumstances.notes) console.log(note)
    const outcomes = await measureAll({ databases, cores, extent: wanted, profile: wanted.profile, other: wanted.against }, wanted.cases)
    const lines = outcomes.flatMap((outcome) => linesOf(outcome, databases.engine.name))
    const section = toSection(circumstances, lines)
    console.log(`\n${section}\n${toProfiles(lines)}`)
    if (wanted.isFull) writeSection(section)
    return outcomes.some((outcome) => 'problem' in outcome) ? 1 : 0
  } finally {
    await databases.dropAll()
  }
}

async function findCircumstances (engine: Engine, cores: Cores, extent: Extent): Promise<Circumstances> {
  const warning = busyWarning()
  const notes = [...describeMachine(), ...await engine.describe(), cores.says, ...warning === undefined ? [] : [warning]]
  return { title: `${titles[engine.name]}, Node ${Number.parseInt(process.versions.node)}`, notes, extent }
}

async function measureAll (setting: Setting, rows: readonly Case[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const { name: engine } = setting.databases.engine
  for (const row of rows) {
    if (row.engines?.includes(engine) === false) continue
    const outcome = await runCase(row, setting)
    for (const { name, figure, target } of linesOf(outcome, engine)) console.log(`${name}: ${figure}${target === '' ? '' : ` (target ${target})`}`)
    outcomes.push(outcome)
  }
  return outcomes
}

/** Removes databases on a server when a signal ends this process. Child processes end with it by themselves. */
function dropOnSignal (databases: Databases): void {
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
    process.once(signal, async () => {
      await databases.dropAll().catch(console.error)
      process.exit(code)
    })
  }
}
