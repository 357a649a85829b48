import { createHistogram } from 'node:perf_hooks'
import autocannon from 'autocannon'

/** A request as it is sent over and over. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** Instructions for the load generator. */
export interface LoadOrder {
  readonly url: string
  readonly connections: number
  /** Each connection sends its own share of these, again and again. */
  readonly requests: readonly LoadRequest[]
  /** Length of the run, or number of requests. */
  readonly end: { readonly duration: number } | { readonly amount: number }
}

/** Result of a run. */
export interface LoadResult {
  readonly answered: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Microseconds of processor time of the load generator. */
  readonly cpu: number
  /** Failures by name; empty if there were none. */
  readonly faults: Readonly<Record<string, number>>
}

process.on('message', async (order: LoadOrder) => {
  process.send?.(await generate(order))
})
process.once('disconnect', () => { process.exit() })
process.send?.({})

async function generate ({ url, connections, requests, end }: LoadOrder): Promise<LoadResult> {
  let connection = 0
  // autocannon itself rounds to whole milliseconds.
  const latencies = createHistogram()
  const before = process.cpuUsage()
  const result = await autocannon({
    url,
    connections,
    ...end,
    timeout: 10,
    // By default autocannon ends up to a second late.
    sampleInt: 100,
    // Requests are built before they are sent, so that a random one costs no more than a fixed one.
    setupClient: (client) => {
      client.setRequests(shareOf(requests, connection++, connections))
      client.on('response', (_status, _bytes, milliseconds) => { latencies.record(Math.max(1, Math.round(milliseconds * 1000))) })
    }
  })
  const { user, system } = process.cpuUsage(before)
  const { errors, timeouts, non2xx, mismatches, resets } = result
  const faults = { errors, timeouts, 'answers other than 2xx': non2xx, mismatches, resets }
  return {
    answered: result['2xx'],
    seconds: result.duration,
    p50: latencies.percentile(50) / 1000,
    p99: latencies.percentile(99) / 1000,
    cpu: user + system,
    faults: Object.fromEntries(Object.entries(faults).filter(([, count]) => count > 0))
  }
}

function shareOf (requests: readonly LoadRequest[], connection: number, connections: number): LoadRequest[] {
  return requests.filter((_request, index) => index % connections === connection % requests.length).map((request) => ({ ...request }))
}
