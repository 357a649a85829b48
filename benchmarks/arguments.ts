import { parseArgs } from 'node:util'
import { cases, type Case, type RatioCase } from './cases.js'

/** Size of a run. */
export interface Extent {
  readonly rounds: number
  /** Length of one run of one server. */
  readonly seconds: number
  /** Numbers of connections of the load generator. Each case is measured with all of them. */
  readonly connections: readonly number[]
  /** Messages in the database; ten times as many in the growth cases. */
  readonly rows: number
  /** Requests of the memory case. */
  readonly requests: number
}

export interface Wanted extends Extent {
  readonly cases: readonly Case[]
  /** True if nothing was left out or made smaller. */
  readonly isFull: boolean
  /** Folder for the CPU profiles of the servers. */
  readonly profile: string | undefined
  /** Folder of another commit, built. Its server then takes the place of those by hand. */
  readonly against: string | undefined
}

const full: Extent = { rounds: 5, seconds: 1, connections: [1, 8, 50], rows: 100_000, requests: 200_000 }

export const usage = `npm run benchmark -- [case…] [--rounds=${full.rounds}] [--seconds=${full.seconds}] [--connections=${full.connections.join()}] [--rows=${full.rows}] [--requests=${full.requests}] [--profile=folder] [--against=folder]
cases: ${cases.map(({ name }) => name).join(', ')}`

/** @throws an error that says what is wrong */
export function readWanted (args: readonly string[]): Wanted {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true, options: { rounds: text, seconds: text, connections: text, rows: text, requests: text, profile: text, against: text }
  })
  const { profile, against, connections, ...numbers } = values
  const given = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, positive(name, value)]))
  const lists = connections === undefined ? {} : { connections: connections.split(',').map((text) => positive('connections', text)) }
  const named = casesNamed(positionals)
  const chosen = against === undefined ? named : againstOtherCommit(named)
  return { ...full, ...given, ...lists, cases: chosen, isFull: args.length === 0, profile, against }
}

function positive (name: string, text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new Error(`--${name} takes a whole number of at least 1`)
}

function casesNamed (names: readonly string[]): readonly Case[] {
  const unknown = names.find((name) => !cases.some((row) => row.name === name))
  if (unknown !== undefined) throw new Error(`There is no case '${unknown}'`)
  return names.length === 0 ? cases : cases.filter(({ name }) => names.includes(name))
}

/** Returns the cases with ours of another commit on the other side. */
function againstOtherCommit (rows: readonly Case[]): readonly RatioCase[] {
  const ratios = rows.filter((row): row is RatioCase => row.kind === 'ratio')
  return ratios.map(({ target, bound, same, ...row }) => ({ ...row, against: { server: 'other' } }))
}
