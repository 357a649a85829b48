import { errors } from '../../errors.js'

/** Major versions of better-sqlite3 and Node that crash the process together, and the version to install. */
const crashes = [
  { driver: (major: number) => major <= 12, node: (major: number) => major >= 24, install: 'better-sqlite3@13' },
  { driver: (major: number) => major >= 13, node: (major: number) => major < 22, install: 'better-sqlite3@12' }
]

/**
 * Checks that better-sqlite3 does not crash on this version of Node.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE if this pair of versions is known to crash
 */
export function requireDriver (node: string, driver: string): void {
  const crash = crashes.find((row) => row.driver(majorOf(driver)) && row.node(majorOf(node)))
  if (crash === undefined) return
  throw new errors.UnsupportedDatabase(`better-sqlite3 ${driver} crashes on Node ${node}; install ${crash.install}`)
}

function majorOf (version: string): number {
  return Number(version.split('.')[0])
}
