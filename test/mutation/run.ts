/**
 * Changes the code that decides who may do what, and counts the changes that no test finds.
 *
 * Each batch runs the tests that judge its files, in test/mutation/batches, those first that find most in the least
 * time: a changed program is given up at the first test that fails. Names of batches as arguments run these alone.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync } from 'node:fs'

const named = {
  filters: ['lib/plan/path.ts', 'lib/plan/permitted-paths.ts', 'lib/plan/plan-filters.ts'],
  access: [
    'lib/resource/access.ts', 'lib/policy/guard.ts', 'lib/policy/operations.ts', 'lib/policy/owner.ts',
    'lib/policy/protection.ts'
  ],
  authentication: ['lib/policy/passwords.ts', 'lib/policy/stored-hashes.ts'],
  dangers: ['lib/policy/hiding-resource.ts', 'lib/policy/made-up-users.ts']
}
const batches: Readonly<Record<string, readonly string[]>> = {
  ...named,
  policies: ['lib/policy/*.ts', ...Object.values(named).flat().map((file) => `!${file}`)]
}
const here = 'test/mutation'

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: ReadonlyArray<{ readonly status: string }> }>>
}

/** Runs a batch; returns how many of its mutants ended in which way. */
function runBatch (name: string, files: readonly string[]): Map<string, number> {
  const { status, error } = spawnSync(
    `${here}/node_modules/.bin/stryker`, ['run', `${here}/stryker.config.json`, '--mutate', files.join()],
    { stdio: 'inherit', env: { ...process.env, TAP_TIMEOUT: '600', MUTATION_BATCH: name } }
  )
  if (error !== undefined) throw error
  if (status !== 0) process.exitCode = 1
  const file = `${here}/reports/${name}.json`
  renameSync(`${here}/report.json`, file)
  const counts = new Map<string, number>()
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  for (const { status } of Object.values(report.files).flatMap(({ mutants }) => mutants)) {
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return counts
}

mkdirSync(`${here}/reports`, { recursive: true })
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(batches)
const unknown = wanted.find((name) => !Object.hasOwn(batches, name))
if (unknown !== undefined) throw new Error(`There is no batch '${unknown}', but ${Object.keys(batches).join(', ')}`)
const results = Object.entries(batches).filter(([name]) => wanted.includes(name))
  .map(([name, files]) => [name, runBatch(name, files)] as const)
for (const [name, counts] of results) {
  console.log(`${name}: ${[...counts].map(([status, count]) => `${count} ${status}`).join(', ')}`)
}
