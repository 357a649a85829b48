import { errors, messageOf } from '../../errors.js'

/** Major versions of better-sqlite3 and Node that crash the process together, and the version to install. */
const crashes = [
  { driver: (major: number) => major <= 12, node: (major: number) => major >= 24, install: 'better-sqlite3@13' },
  { driver: (major: number) => major >= 13, node: (major: number) => major < 22, install: 'better-sqlite3@12' }
]

/**
 * Checks that a version of better-sqlite3 does not crash on a version of Node.
 *
 * @throws REST_MODELS_UNSUPPORTED_DATABASE if this pair of versions is known to crash
 */
export function requireDriver (node: string, driver: string): void {
  const crash = crashes.find((row) => row.driver(majorOf(driver)) && row.node(majorOf(node)))
  if (crash === undefined) return
  throw new errors.UnsupportedDatabase(`better-sqlite3 ${driver} crashes on Node ${node}; install ${crash.install}`)
}

/**
 * Returns the remedy if an error says that better-sqlite3 has no binary that this version of Node can load. Otherwise
 * returns undefined. Package managers may leave out the compilation, and Node may be changed after it.
 */
export function binaryRemedy (error: unknown): string | undefined {
  const { code } = Object(error) as { readonly code?: unknown }
  const isMissing = code === 'ERR_DLOPEN_FAILED' ||
    /^Could not locate the bindings file|^Cannot find module .*better_sqlite3\.node/.test(messageOf(error))
  if (!isMissing) return undefined
  return `better-sqlite3 has no binary for Node ${process.versions.node}; compile it: npm rebuild better-sqlite3, ` +
    'or with pnpm: pnpm approve-builds better-sqlite3 && pnpm rebuild better-sqlite3'
}

function majorOf (version: string): number {
  return Number(version.split('.')[0])
}
