import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'

const packages = ['fastify', 'kysely', 'better-sqlite3', 'pg', 'mysql2', '@node-rs/argon2', 'fast-json-stringify', 'autocannon']

/** Paths on whose contents the figures depend. */
const measured = [':/lib', ':/schemas', ':/package-lock.json', ':/benchmarks', ':!/benchmarks/results.md']

/** Describes the machine, the versions and the commit. */
export function describeMachine (): readonly string[] {
  const gib = Math.round(totalmem() / 2 ** 30)
  return [
    `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, ${gib} GiB, ${type()} ${release()}`,
    `Node ${process.versions.node}, ${packages.map((name) => `${name} ${versionOf(name)}`).join(', ')}`,
    `commit ${commit()}, ${new Date().toISOString().slice(0, 10)}`
  ]
}

/** Returns a warning if others use the machine, because then figures mean little. */
export function busyWarning (): string | undefined {
  const [minute = 0] = loadavg()
  return minute < 0.7 ? undefined : `others use the machine (load ${minute.toFixed(1)} before the run): only ratios mean anything, and they vary more than usual`
}

function versionOf (name: string): string {
  const { version } = JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8')) as { version: string }
  return version
}

function commit (): string {
  try {
    const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', cwd: new URL('.', import.meta.url), stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    const changed = git('--no-optional-locks', 'status', '--porcelain', '--', ...measured) !== ''
    return `${git('rev-parse', '--short=12', 'HEAD')}${changed ? ' with uncommitted changes' : ''}`
  } catch {
    return 'unknown'
  }
}
