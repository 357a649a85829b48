import { dirname } from 'node:path'
import { unescape } from 'node:querystring'
import { startMariadb } from './mariadb-server.js'
import { startPostgres } from './postgres-server.js'
import { orElse, type PrivateServer } from './private-server.js'
import { requirePrograms, whyMissing } from './programs.js'
import { reasonOf, runSql } from './sql.js'

interface EngineRow {
  /** The name of the environment variable, and a value for it. */
  readonly variable: string
  readonly example: string
  /** Where a prepared machine has a service that needs no password. */
  readonly service: string
  /** What `version()` says. */
  readonly version: RegExp
  readonly start: () => Promise<PrivateServer>
}

const engines = {
  postgres: {
    variable: 'POSTGRES_URL',
    example: 'postgres://user:password@host:5432/database',
    service: 'postgres://postgres@127.0.0.1:5432/postgres',
    version: /^PostgreSQL [\d.]+/,
    start: startPostgres
  },
  mariadb: {
    variable: 'MARIADB_URL',
    example: 'mariadb://user:password@host:3306/database',
    service: 'mariadb://root@127.0.0.1:3306/',
    version: /^[\d.]+-MariaDB/,
    start: startMariadb
  }
} as const satisfies Record<string, EngineRow>

export type EngineName = keyof typeof engines
export const engineNames = Object.keys(engines) as EngineName[]

/** The environment variable that names a server of an engine. */
export function variableOf (engine: EngineName): (typeof engines)[EngineName]['variable'] {
  return engines[engine].variable
}

/** A server to make databases on. */
export interface FoundEngine {
  readonly url: string
  /** How it was found, in words. */
  readonly how: string
  /** Stops it, if it was started to be found. */
  stop (): Promise<void>
}

/** Why there is no server, in one line. */
export interface MissingEngine { readonly url?: never, readonly why: string }

/**
 * A server to test with: the one that the environment names, else a service of this machine, else a private one.
 *
 * @throws if the environment names one that cannot be logged into: nothing else is tried then
 */
export async function findEngine (
  engine: EngineName, env: NodeJS.ProcessEnv = process.env
): Promise<FoundEngine | MissingEngine> {
  const { variable, service } = engines[engine]
  const named = env[variable] ?? ''
  if (named !== '') return await namedServer(engine, named)
  const running = await logIn(engine, service, 1000).catch(() => undefined)
  if (running !== undefined) {
    return { url: service, how: `the service on ${new URL(service).host} (${running})`, stop: async () => {} }
  }
  const lacks = whyMissing(engine)
  if (lacks !== undefined) {
    return {
      why: `no ${variable} in the environment; no service on ${new URL(service).host} that lets ` +
      `${new URL(service).username} in without a password; ${lacks}`
    }
  }
  return await startEngine(engine)
}

/**
 * A server for a run of many test files: the one that the environment names, else a private one, else a service of this
 * machine. A private one has its data in memory, which takes a quarter off the tests on MariaDB.
 *
 * @throws if the environment names one that cannot be logged into
 */
export async function findEngineForRun (
  engine: EngineName, env: NodeJS.ProcessEnv = process.env
): Promise<FoundEngine | MissingEngine> {
  const isNamed = (env[variableOf(engine)] ?? '') !== ''
  if (isNamed || whyMissing(engine) !== undefined) return await findEngine(engine, env)
  try {
    return await startEngine(engine)
  } catch (error) {
    console.log(`${engine}: no private server could be started: ${reasonOf(error)}`)
    return await findEngine(engine, env)
  }
}

async function startEngine (engine: EngineName): Promise<FoundEngine> {
  const { url, stop } = await engines[engine].start()
  const version = await orElse(stop, logIn(engine, url, 5000))
  const [program = ''] = Object.values(requirePrograms(engine))
  return { url, how: `a private server (${version}) of ${dirname(program)}`, stop }
}

async function namedServer (engine: EngineName, url: string): Promise<FoundEngine> {
  const { variable, example } = engines[engine]
  if (!URL.canParse(url)) throw new Error(`${variable} is not a URL such as ${example}`)
  const { protocol, username, password, host, pathname } = new URL(url)
  // Without what may be a secret: the password, and the parameters after the question mark.
  const shown = `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
  try {
    const version = await logIn(engine, url, 10_000)
    return { url, how: `${variable}, ${shown} (${version})`, stop: async () => {} }
  } catch (error) {
    const reason = [password, unescape(password)].reduce(
      (text, secret) => secret === '' ? text : text.replaceAll(secret, '…'), reasonOf(error)
    )
    throw new Error(`${variable} names ${shown}, which cannot be used: ${reason}. Correct it, ` +
      'or unset it to have a server found or started')
  }
}

/** The version of the server, such as "PostgreSQL 15.20". */
async function logIn (engine: EngineName, url: string, milliseconds: number): Promise<string> {
  const [row] = await runSql(url, 'select version() as version', milliseconds)
  const version = engines[engine].version.exec(String(row?.['version']))?.[0]
  if (version === undefined) throw new Error(`it is ${String(row?.['version'])}, not ${engine}`)
  return version
}
