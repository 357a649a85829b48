import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  engineNames, findEngine, variableOf, type EngineName, type FoundEngine, type MissingEngine
} from '../test/support/engines/find-engine.js'
import { programKinds, whyMissing } from '../test/support/engines/programs.js'
import { reasonOf } from '../test/support/engines/sql.js'
import { judgeCoverage } from './coverage.js'
import { groupFiles, hasTag } from './groups.js'
import { buildTap, interruption, listenForSignals, runTap, toLine, type Outcome } from './run-tap.js'

/**
 * `npm test`: runs all test files on SQLite, which together must cover everything, and then, on each other engine that
 * is found, the files without `// @once`. Arguments go to tap: files run in place of all these, options are added.
 */

type Engines = ReadonlyMap<EngineName, FoundEngine | MissingEngine>

const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'))
const files = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))

listenForSignals()
try {
  process.exitCode = await findAndRun()
} catch (error) {
  console.error(reasonOf(error))
  process.exitCode = 1
}

async function findAndRun (): Promise<number> {
  const engines: Engines = new Map(
    await Promise.all(engineNames.map(async (name) => [name, await findEngine(name)] as const))
  )
  for (const [name, found] of engines) {
    console.log(`${name}: ${found.url === undefined ? `not found: ${found.why}` : found.how}`)
  }
  try {
    await buildTap()
    const missing = allMissing(engines)
    if (process.env['CI'] === 'true' && missing.length > 0) {
      throw new Error(`With CI=true nothing may be missing:\n${missing.join('\n')}`)
    }
    const outcomes = await runAll(engines)
    report(outcomes, engines)
    return interruption() === undefined && outcomes.every(({ code }) => code === 0) ? 0 : 1
  } finally {
    for (const found of engines.values()) if (found.url !== undefined) await found.stop()
  }
}

async function runAll (engines: Engines): Promise<readonly Outcome[]> {
  const env = Object.fromEntries([...engines].map(([name, { url }]) => [variableOf(name), url]))
  const run = async (name: string, args: readonly string[]): Promise<Outcome> => {
    console.log(`\nTests on ${name}:`)
    return await runTap(name, [...options, ...args], { ...env, TEST_ENGINE: name })
  }
  const isWhole = files.length === 0
  const outcomes = [await run('sqlite', isWhole ? groupFiles(testFiles()) : ['--disable-coverage', ...files])]
  // The next run of tap removes what this one has written.
  if (isWhole && allMissing(engines).length === 0 && interruption() === undefined) outcomes.push(await judgeCoverage())
  for (const [name, { url }] of engines) {
    if (url === undefined || interruption() !== undefined) continue
    outcomes.push(await run(name, ['--disable-coverage', ...isWhole ? groupFiles(contractFiles()) : files]))
  }
  return outcomes
}

/**
 * Servers and programs that some tests need and that are not here: those tests are skipped, so coverage is not judged.
 */
function allMissing (engines: Engines): string[] {
  const servers = [...engines].flatMap(([name, { url }]) => url === undefined ? [`${name}: no server was found`] : [])
  const programs = programKinds.flatMap((kind) => {
    const why = whyMissing(kind)
    return why === undefined ? [] : [`${kind}: ${why}`]
  })
  return [...servers, ...programs]
}

function contractFiles (): string[] {
  return testFiles().filter((file) => !hasTag(file, 'once'))
}

function testFiles (): string[] {
  const folder = fileURLToPath(new URL('../test/', import.meta.url))
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules')).sort()
}

function report (outcomes: readonly Outcome[], engines: Engines): void {
  console.log()
  for (const { name, failures } of outcomes) {
    if (failures.length > 0) console.log(`Failed on ${name}:\n${failures.join('\n')}\n`)
  }
  for (const outcome of outcomes) console.log(toLine(outcome))
  const missing = allMissing(engines)
  for (const line of missing) console.log(`skipped, ${line}`)
  if (files.length === 0 && missing.length > 0) console.log('coverage: not judged, because tests were skipped')
  const signal = interruption()
  if (signal !== undefined) console.log(`ended by ${signal}`)
}
