import type { RatioCase, Side, Targets } from '../cases.js'
import { requireSame, requireSameRecords } from '../compare.js'
import type { LoadRequest } from '../load/generate.js'
import type { RequestMaker } from '../requests.js'
import { startLoad, type Load } from '../processes/load.js'
import type { Server } from '../processes/server.js'
import { seeded } from '../random.js'
import type { Share } from '../servers/profiler.js'
import { medianOf, spreadOf, type Spread } from '../statistics.js'
import { withSide, type Setting, type Sides } from './setting.js'

/** Figures of two servers that took turns, with one number of connections. */
export interface RatioResult {
  readonly connections: number
  /** Of the processor time of a request, round by round: above 1, ours takes less. */
  readonly ratio: Spread
  readonly sides: Sides<SideResult>
  /** Profiles of both sides, if the ratio misses its target. */
  readonly profiles: Sides<readonly Share[]> | undefined
}

/** Medians of all rounds. */
interface SideResult {
  readonly server: Side['server']
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Microseconds of processor time for a request. */
  readonly cpu: number
  /** Share of the time in which the server used its core. If it is well below 1, it waited for load or for a disk. */
  readonly busy: number
  /** Bytes after the last round. */
  readonly rss: number
}

type Turn = Omit<SideResult, 'server' | 'rss'>

interface TurnPlan {
  readonly connections: number
  readonly seed: number
  readonly duration: number
}

/** Requests that are compared before anything is timed. */
const samples = 20
/** Warm-up requests, with the most connections: enough for V8 to compile the code of a request. A second is too short on a slow machine. */
const warmUp = { requests: 12_000, turns: 8 } as const
/** Functions that are named in a profile. */
const named = 12
/** Requests that are built for one run of one server: 40 for each connection. */
const built = 2000

/**
 * Compares the answers of two servers, warms them up, and lets them work in turns: ours, the other, the other, ours …
 * Another commit may give other answers, so those are not compared.
 *
 * @throws if an answer differs, or if one under load is not a 2xx
 */
export async function measureRatio (row: RatioCase, setting: Setting): Promise<readonly RatioResult[]> {
  const sides = sidesOf(row)
  return await withSide(setting, sides[0], async (ours) =>
    await withSide(setting, sides[1], async (against) => {
      const load = await startLoad(setting.cores.load)
      try {
        const contest = new Contest(setting, load, sides, [ours, against])
        if (sides[1].server !== 'other') await contest.compare(row)
        return await contest.run(row.target?.[setting.databases.engine.name] ?? {})
      } finally {
        await load.end()
      }
    }))
}

function sidesOf ({ requests, policy = 'owner', times = 1, durability = 'normal', against }: RatioCase): Sides<Side> {
  const ours: Side = { server: 'ours', policy, times, durability, requests }
  return [ours, { ...ours, server: 'baseline', ...against }]
}

class Contest {
  readonly #setting: Setting
  readonly #load: Load
  readonly #sides: Sides<Side>
  readonly #servers: Sides<Server>

  constructor (setting: Setting, load: Load, sides: Sides<Side>, servers: Sides<Server>) {
    this.#setting = setting
    this.#load = load
    this.#sides = sides
    this.#servers = servers
  }

  async compare ({ same, differs = [] }: RatioCase): Promise<void> {
    const urls = [this.#servers[0].url, this.#servers[1].url] as const
    if (same !== undefined) return await this.#compareRecords(urls, same)
    const [ours, others] = [this.#requests(0, 0, samples), this.#requests(1, 0, samples)]
    for (const [index, request] of ours.entries()) await requireSame({ urls, requests: [request, others[index] ?? request], differs })
  }

  async #compareRecords (urls: readonly string[], same: RequestMaker): Promise<void> {
    for (const [index, { requests, times }] of this.#sides.entries()) {
      const messages = this.#setting.extent.rows * times
      if (requests === this.#sides[0].requests) await requireSameRecords(urls[index] ?? '', [requests(seeded(0), messages), same(seeded(0), messages)])
    }
  }

  async run (targets: Targets): Promise<readonly RatioResult[]> {
    const { connections } = this.#setting.extent
    const results: RatioResult[] = []
    for (const side of [0, 1] as const) await this.#warmUp(side, Math.max(...connections))
    for (const count of connections) results.push(await this.#runWith(count, targets[count] ?? 0))
    return results
  }

  async #runWith (connections: number, target: number): Promise<RatioResult> {
    const { rounds, seconds } = this.#setting.extent
    const turns: [Turn[], Turn[]] = [[], []]
    for (let round = 1; round <= rounds; round++) {
      for (const side of round % 2 === 1 ? [0, 1] as const : [1, 0] as const) {
        turns[side].push(await this.#turn(side, { connections, seed: round + 1, duration: seconds }))
      }
    }
    const ratio = spreadOf(turns[0].map(({ cpu }, index) => (turns[1][index]?.cpu ?? NaN) / cpu))
    const sides = [await this.#result(0, turns[0]), await this.#result(1, turns[1])] as const
    const profiles = ratio.median < target ? [await this.#profile(0, connections), await this.#profile(1, connections)] as const : undefined
    return { connections, ratio, sides, profiles }
  }

  async #warmUp (side: 0 | 1, connections: number): Promise<void> {
    const { seconds } = this.#setting.extent
    let answered = 0
    for (let turn = 0; turn < warmUp.turns && answered < warmUp.requests; turn++) {
      answered += (await this.#turn(side, { connections, seed: 1, duration: seconds })).perSecond * seconds
    }
  }

  async #profile (side: 0 | 1, connections: number): Promise<readonly Share[]> {
    const { rounds, seconds } = this.#setting.extent
    return await this.#servers[side].profile(async () => await this.#turn(side, { connections, seed: rounds + 2, duration: 2 * seconds }), named)
  }

  async #turn (side: 0 | 1, { connections, seed, duration }: TurnPlan): Promise<Turn> {
    const { url, usage } = this.#servers[side]
    const before = await usage()
    const { answered, seconds, p50, p99 } = await this.#load.run({ url, connections, requests: this.#requests(side, seed, built), end: { duration } })
    const after = await usage()
    const cpu = after.cpu - before.cpu
    return { perSecond: answered / seconds, p50, p99, cpu: cpu / answered, busy: cpu / 1e6 / seconds }
  }

  async #result (side: 0 | 1, turns: readonly Turn[]): Promise<SideResult> {
    const { rss } = await this.#servers[side].usage()
    const median = (name: keyof Turn): number => medianOf(turns.map((turn) => turn[name]))
    return { server: this.#sides[side].server, perSecond: median('perSecond'), p50: median('p50'), p99: median('p99'), cpu: median('cpu'), busy: median('busy'), rss }
  }

  /** Returns the requests of a round. They are the same for both sides if both ask for the same. */
  #requests (side: 0 | 1, seed: number, count: number): LoadRequest[] {
    const { requests, times } = this.#sides[side]
    return Array.from({ length: count }, (_, index) => requests(seeded(seed * built + index), this.#setting.extent.rows * times))
  }
}
