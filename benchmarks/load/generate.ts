import autocannon from 'autocannon'

/** A request as it is sent over and over. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** What the load generator is told to do. */
export interface LoadOrder {
  readonly url: string
  readonly connections: number
  /** Each connection goes through its own share of these, round and round. */
  readonly requests: readonly LoadRequest[]
  /** How long, or how many requests. */
  readonly end: { readonly duration: number } | { readonly amount: number }
}

/** What it saw. */
export interface LoadResult {
  readonly answered: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p99: number
  /** What should not happen, by its name; empty if nothing did. */
  readonly faults: Readonly<Record<string, number>>
}

process.on('message', async (order: LoadOrder) => {
  process.send?.(await generate(order))
})
process.once('disconnect', () => { process.exit() })
process.send?.({})

async function generate ({ url, connections, requests, end }: LoadOrder): Promise<LoadResult> {
  let connection = 0
  const result = await autocannon({
    url,
    connections,
    ...end,
    timeout: 10,
    // Ends when it is time, not a second later.
    sampleInt: 100,
    // Requests are built before they are sent, so that a random one costs no more than another.
    setupClient: (client) => { client.setRequests(shareOf(requests, connection++, connections)) }
  })
  const { errors, timeouts, non2xx, mismatches, resets } = result
  const faults = { errors, timeouts, 'answers other than 2xx': non2xx, mismatches, resets }
  return {
    answered: result['2xx'],
    seconds: result.duration,
    p99: result.latency.p99,
    faults: Object.fromEntries(Object.entries(faults).filter(([, count]) => count > 0))
  }
}

function shareOf (requests: readonly LoadRequest[], connection: number, connections: number): LoadRequest[] {
  return requests.filter((_request, index) => index % connections === connection % requests.length).map((request) => ({ ...request }))
}
