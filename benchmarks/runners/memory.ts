import type { MemoryCase, Side } from '../cases.js'
import { startLoad } from '../processes/load.js'
import type { Server } from '../processes/server.js'
import { seeded } from '../random.js'
import { withSide, type Setting } from './setting.js'

/** Memory of the process in bytes: when it starts, after a tenth of the requests and after all of them. */
export interface MemoryResult {
  readonly requests: number
  readonly servers: ReadonlyArray<{ readonly server: Side['server'], readonly start: number, readonly tenth: number, readonly all: number }>
}

/** Requests of one run. */
const built = 4000

export async function measureMemory (row: MemoryCase, setting: Setting): Promise<MemoryResult> {
  const { requests } = setting.extent
  const servers: Array<MemoryResult['servers'][number]> = []
  for (const server of ['ours', 'baseline'] as const) {
    servers.push(await withSide(setting, { server, policy: 'open', times: 1, durability: 'normal' }, async (running) => ({ server, ...await measure(row, setting, running) })))
  }
  return { requests, servers }
}

async function measure (row: MemoryCase, { extent, cores }: Setting, { url, usage }: Server) {
  const rss = async (): Promise<number> => (await usage()).rss
  const random = seeded(7)
  const requests = Array.from({ length: built }, () => row.requests(random, extent.rows))
  const load = await startLoad(cores.load)
  try {
    const first = Math.round(extent.requests / 10)
    const start = await rss()
    const connections = Math.max(...extent.connections)
    await load.run({ url, connections, requests, end: { amount: first } })
    const tenth = await rss()
    await load.run({ url, connections, requests, end: { amount: extent.requests - first } })
    return { start, tenth, all: await rss() }
  } finally {
    await load.end()
  }
}
