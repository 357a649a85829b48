import { cpus } from 'node:os'
import type { ProcessesCase } from '../cases.js'
import { startLoad, type Load } from '../processes/load.js'
import type { Server } from '../processes/server.js'
import { seeded } from '../random.js'
import { medianOf, spreadOf, type Spread } from '../statistics.js'
import { withServer, type Setting, type Sides } from './setting.js'

/** Figures of two processes and of one, in turns. */
export interface ProcessesResult {
  readonly connections: number
  /** Requests per second of two processes over those of one, as measured with nothing pinned. */
  readonly wall: Spread
  /**
   * The same if each process had a core of its own: twice the processor time of a request with one over that with two.
   * Both sides are pinned to one core, which they fill.
   */
  readonly capacity: Spread
  /** True if both processes used their cores with nothing pinned. Otherwise something else bounds the requests per second. */
  readonly isServerBound: boolean
  readonly unpinned: Sides<Turn>
  readonly pinned: Sides<Turn>
}

/** One run of one side. */
interface Turn {
  readonly perSecond: number
  /** Microseconds of processor time of the servers for a request. */
  readonly cpu: number
  /** Cores that the servers, the load generator and everything else used: the database, the system, other programs. */
  readonly servers: number
  readonly load: number
  readonly others: number
}

const counts = [2, 1] as const
const built = 2000
/** Share of a core from which on a process is what bounds its requests. */
const full = 0.9
/** Requests of each process before it is measured: enough for V8 to compile the code of a request. */
const warmUp = 12_000

/** Both sides read one database. They are measured with nothing pinned, and on one core beside that of the load generator. */
export async function measureProcesses ({ requests }: ProcessesCase, setting: Setting): Promise<ProcessesResult> {
  const { databases, extent, cores } = setting
  const database = await databases.copy(extent.rows)
  const random = seeded(7)
  const order = { connections: Math.max(...extent.connections), requests: Array.from({ length: built }, () => requests(random, extent.rows)), end: { duration: extent.seconds } }
  try {
    const unpinned = await takeTurns({ ...setting, cores: { ...cores, server: undefined, load: undefined } }, database, order)
    const pinned = await takeTurns(setting, database, order)
    return toResult(order.connections, unpinned, pinned)
  } finally {
    await databases.drop(database)
  }
}

type Order = Omit<Parameters<Load['run']>[0], 'url'>
type Turns = Sides<readonly Turn[]>

async function takeTurns (setting: Setting, database: string, order: Order): Promise<Turns> {
  const start = async <Result> (processes: number, work: (server: Server) => Promise<Result>): Promise<Result> =>
    await withServer(setting, { file: 'cluster', database, durability: 'normal', processes }, work)
  const load = await startLoad(setting.cores.load)
  try {
    return await start(counts[0], async (two) => await start(counts[1], async (one) => {
      const turns: [Turn[], Turn[]] = [[], []]
      for (const [side, { url }] of [two, one].entries()) await load.run({ ...order, url, end: { amount: warmUp * (counts[side] ?? 1) } })
      for (let round = 1; round <= setting.extent.rounds; round++) {
        for (const side of round % 2 === 1 ? [0, 1] as const : [1, 0] as const) turns[side].push(await takeTurn([two, one][side] ?? one, load, order))
      }
      return turns
    }))
  } finally {
    await load.end()
  }
}

async function takeTurn ({ url, usage }: Server, load: Load, order: Order): Promise<Turn> {
  const [before, busyBefore] = [await usage(), busyTime()]
  const result = await load.run({ ...order, url })
  const [busy, after] = [busyTime() - busyBefore, await usage()]
  const { answered, seconds } = result
  const cpu = after.cpu - before.cpu
  const [servers, generator] = [cpu / 1e6 / seconds, result.cpu / 1e6 / seconds]
  return { perSecond: answered / seconds, cpu: cpu / answered, servers, load: generator, others: Math.max(0, busy / 1e3 / seconds - servers - generator) }
}

/** Milliseconds in which the cores of the machine were busy. */
function busyTime (): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
}

function toResult (connections: number, unpinned: Turns, pinned: Turns): ProcessesResult {
  const byRound = ([two, one]: Turns, ratio: (two: Turn, one: Turn) => number): Spread =>
    spreadOf(two.map((turn, index) => ratio(turn, one[index] ?? turn)))
  const free = medians(unpinned)
  return {
    connections,
    wall: byRound(unpinned, (two, one) => two.perSecond / one.perSecond),
    capacity: byRound(pinned, (two, one) => counts[0] / counts[1] * one.cpu / two.cpu),
    isServerBound: free[0].servers >= full * counts[0],
    unpinned: free,
    pinned: medians(pinned)
  }
}

const medians = ([two, one]: Turns): Sides<Turn> => [medianTurn(two), medianTurn(one)]

function medianTurn (turns: readonly Turn[]): Turn {
  const median = (name: keyof Turn): number => medianOf(turns.map((turn) => turn[name]))
  return { perSecond: median('perSecond'), cpu: median('cpu'), servers: median('servers'), load: median('load'), others: median('others') }
}
