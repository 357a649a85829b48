import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { seeded } from '../../benchmarks/random.js'
import { medianOf } from '../../benchmarks/statistics.js'
import { basic } from '../support/site.js'
import { startServer } from '../support/process.js'
import { readNumbers } from './numbers.js'
import { runAutocannon } from './overloading.js'
import { comparePermuted, shuffle } from './permutation-test.js'
import { inFolder } from './undo.js'

/**
 * npm run login-times [-- --rounds=500 --seed=1]: whether the time of a refused log-in tells what there is of the user,
 * and whether guessing keeps others from reading, more than as many reads do.
 */

const crowd = 400

type Draw = (round: number) => readonly [username: string, password: string]

/** Who is refused; all of them are compared with the first. */
const kinds = {
  'wrong password': (round) => ['alice', `wrong ${round}`],
  'wrong password of another user': (round) => ['bob', `wrong ${round}`],
  'unknown user': (round) => [`nobody ${round}`, 'alice'],
  'inactive user, right password': () => ['carol', 'carol'],
  'password that is too long to be hashed': (round) => ['alice', 'x'.repeat(1025 + round % 2)]
} as const satisfies Record<string, Draw>
type Kind = keyof typeof kinds
const names = Object.keys(kinds) as [Kind, ...Kind[]]

/** It has to differ: a test that does not see this sees nothing. */
const control: Kind = 'password that is too long to be hashed'
/** Of each of the others: one false alarm in a hundred runs of the command. */
const significance = 0.01 / (names.length - 2)

const { rounds, seed } = readNumbers({ rounds: 500, seed: 1 })
const random = seeded(seed)

process.exitCode = await inFolder(async (folder, t) => {
  const { address } = await startServer(t, resolve('dist/examples/site/main.js'), {
    cwd: folder, env: { DATABASE_URL: `sqlite:${join(folder, 'site.db')}` }, undocumented: 'its times are measured'
  })
  const times = await measure(address)
  await readBeside('reads', address, () => ({}))
  const p99 = await readBeside('wrong log-ins', address, (number) =>
    ({ method: 'PUT', body: '{}', headers: { authorization: basic('alice', `guess ${number}`) } }))
  const [base, ...others] = names
  console.log(`${rounds} log-ins of each kind in random order (seed ${seed}); ${base}: ` +
    `median ${medianOf(times[base]).toFixed(2)} ms`)
  const verdicts = others.map((kind) => {
    const { difference, p } = comparePermuted(times[base], times[kind], random)
    console.log(`${kind}: ${difference.toFixed(3)} ms, p = ${p.toFixed(4)}`)
    return (p < significance) === (kind === control)
  })
  return verdicts.includes(false) || p99 >= 100 ? 1 : 0
})

async function measure (address: string): Promise<Record<Kind, number[]>> {
  const times = Object.fromEntries(names.map((kind) => [kind, []])) as unknown as Record<Kind, number[]>
  for (let round = -10; round < rounds; round++) {
    for (const kind of shuffle([...names], random)) {
      const start = performance.now()
      const { status } = await fetch(`${address}/api/message/1/`, {
        method: 'PUT', body: '{}', headers: { authorization: basic(...kinds[kind](round)) }
      })
      const took = performance.now() - start
      if (status !== 401) throw new Error(`${kind}: ${status}`)
      // The first rounds warm the server up.
      if (round >= 0) times[kind].push(took)
    }
  }
  return times
}

/**
 * Four hundred requests at once, and, when they are answered, again, as long as somebody else reads a hundred times a
 * second: the p99 of the latter, in milliseconds.
 */
async function readBeside (what: string, address: string, requestOf: (number: number) => RequestInit): Promise<number> {
  const url = `${address}/api/message/1/`
  const counts: Record<string, number> = {}
  const send = async (number: number): Promise<void> => {
    const { status } = await fetch(url, requestOf(number))
    counts[status] = (counts[status] ?? 0) + 1
  }
  const done = new AbortController()
  const reading = runAutocannon(['-c', '5', '-R', '100', '-d', '15', url]).finally(() => { done.abort() })
  while (!done.signal.aborted) {
    await Promise.all([pause(2000), ...Array.from({ length: crowd }, async (_, number) => await send(number))])
  }
  const { latency: { p99 }, '2xx': reads } = await reading
  const statuses = Object.entries(counts).map(([status, count]) => `${count} x ${status}`).join(', ')
  console.log(`${reads} reads while ${crowd} ${what} at a time are under way (${statuses}): p99 ${p99} ms`)
  return p99
}
