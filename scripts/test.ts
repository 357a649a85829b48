import {
  engineNames, findEngineForRun, variableOf, type EngineName, type FoundEngine, type MissingEngine
} from '../test/support/engines/find-engine.js'
import { programKinds, whyMissing } from '../test/support/engines/programs.js'
import { reasonOf } from '../test/support/engines/sql.js'
import { bundleOf, bundleTests } from './bundle-tests.js'
import { judgeCoverage, keepCoverage } from './coverage.js'
import { buildTap, interruption, listenForSignals, runCheck, runTap, toLine, type Outcome } from './run-tap.js'
import { clearGroups, isCovering, readTestFiles, selectFiles, writeGroups, type TestFile } from './test-files.js'

/**
 * `npm test`: checks the types, which the build before it leaves out, and runs all test files but the long ones on
 * SQLite, and those that ask for it on each server that is found. `npm run test:all` adds `--all`: every file on every
 * engine, with nothing missing, and those tests on SQLite which are counted must cover all of the sources.
 */

type Engines = ReadonlyMap<EngineName, FoundEngine | MissingEngine>

const isAll = process.argv.includes('--all')
/** An option of tap for bundles, which need no compiler; with it, their faults would be told without the sources. */
const withoutTsx = ['--node-arg=--import=./scripts/test-process.js'] as const
const files = readTestFiles()

listenForSignals()
try {
  process.exitCode = await main()
} catch (error) {
  console.error(reasonOf(error))
  process.exitCode = 1
}

async function main (): Promise<number> {
  const missing = missingPrograms()
  if (isAll && missing.length > 0) {
    throw new Error(`npm run test:all needs what is missing here; npm test does without:\n${missing.join('\n')}`)
  }
  const found = await Promise.all(engineNames.map(async (name) => [name, await findEngineForRun(name)] as const))
  const engines: Engines = new Map(found)
  for (const [name, engine] of engines) {
    console.log(`${name}: ${engine.url === undefined ? `not found: ${engine.why}` : engine.how}`)
  }
  try {
    const outcomes = await Promise.all([runCheck('types', 'npm', ['run', '--silent', 'typecheck']), runTests(engines)])
    return report(outcomes.flat(), missing)
  } finally {
    for (const found of engines.values()) if (found.url !== undefined) await found.stop()
  }
}

/** Those files of `--all` whose coverage is judged run first, so that it is judged beside the others. */
async function runTests (engines: Engines): Promise<Outcome[]> {
  const urls = Object.fromEntries([...engines].map(([name, { url }]) => [variableOf(name), url]))
  const env = { ...urls, TEST_ALL: String(isAll) }
  const servers = engineNames.filter((name) => engines.get(name)?.url !== undefined)
  const isCovered = (file: TestFile): boolean => isAll && isCovering(file)
  const onSqlite = selectFiles(files, 'sqlite', isAll)
  clearGroups()
  const covered = writeGroups(onSqlite.filter(isCovered), 'sqlite', 'sqlite-covered')
  const onServers = servers.flatMap((name) => writeGroups(selectFiles(files, name, isAll), name))
  const others = [...onServers, ...writeGroups(onSqlite.filter((file) => !isCovered(file)), 'sqlite')]
  await Promise.all([buildTap(), bundleTests([...covered, ...others])])
  const run = async (name: string, programs: readonly string[], ...options: readonly string[]): Promise<Outcome> => {
    return await runTap(name, [...options, ...withoutTsx, ...programs.map(bundleOf)], env)
  }
  const runOthers = async () => await run([...servers, 'sqlite'].join(', '), others, '--disable-coverage')
  if (!isAll) return [await runOthers()]
  const outcome = await run('sqlite, with coverage', covered)
  if (interruption() !== undefined) return [outcome]
  return [outcome, ...await Promise.all([judgeCoverage(keepCoverage()), runOthers()])]
}

/** Programs that some tests need and that are not here. */
function missingPrograms (): string[] {
  return programKinds.flatMap((kind) => {
    const why = whyMissing(kind)
    return why === undefined ? [] : [`${kind}: ${why}`]
  })
}

function report (outcomes: readonly Outcome[], missing: readonly string[]): number {
  console.log()
  for (const { name, failures } of outcomes) {
    if (failures.length > 0) console.log(`Failed, ${name}:\n${failures.join('\n')}\n`)
  }
  for (const outcome of outcomes) console.log(toLine(outcome))
  for (const line of missing) console.log(`skipped, ${line}`)
  if (!isAll) console.log(leftOut())
  const signal = interruption()
  if (signal !== undefined) console.log(`ended by ${signal}`)
  return signal === undefined && outcomes.every(({ code }) => code === 0) ? 0 : 1
}

function leftOut (): string {
  const long = files.filter(({ tags }) => tags.has('long')).length
  const onServers = selectFiles(files, 'postgres', true).length - selectFiles(files, 'postgres', false).length
  return `left out: ${long} long test files, ${onServers} files on servers, coverage; npm run test:all runs everything`
}
