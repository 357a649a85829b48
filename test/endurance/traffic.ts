import autocannon from 'autocannon'
import { basic } from '../support/site.js'

/** A request of the mixture, and the one status that is right for it. */
interface Step {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `:id` stands for the message that the connection has created last. */
  readonly path: string
  readonly as?: readonly [username: string, password: string]
  readonly body?: string
  readonly status: number
}

const alice = ['alice', 'alice'] as const
const bob = ['bob', 'bob'] as const
const content = 'the weather, '.repeat(10)

/**
 * All five operations, with and without credentials, and some of what clients do wrong: each connection goes through
 * them in this order, round and round.
 */
const steps: readonly Step[] = [
  { method: 'GET', path: '/api/message/', status: 200 },
  { method: 'GET', path: '/api/message/1/', status: 200 },
  { method: 'GET', path: '/api/message/?user__username=bob&ordering=-pub_date&limit=5', status: 200 },
  { method: 'GET', path: '/api/message/?content__ilike=%25garden%25', status: 200 },
  { method: 'POST', path: '/api/message/', as: alice, body: JSON.stringify({ content }), status: 201 },
  { method: 'GET', path: '/api/message/:id/', status: 200 },
  { method: 'PUT', path: '/api/message/:id/', as: bob, body: '{}', status: 403 },
  {
    method: 'PUT',
    path: '/api/message/:id/',
    as: alice,
    body: JSON.stringify({ content: `${content} changed` }),
    status: 200
  },
  { method: 'GET', path: '/api/note/?limit=100', status: 200 },
  { method: 'GET', path: '/api/message/?page=2&limit=10', status: 200 },
  { method: 'PUT', path: '/api/message/:id/', body: '{}', status: 401 },
  { method: 'POST', path: '/api/message/', as: alice, body: '{"content": 1}', status: 400 },
  { method: 'GET', path: '/api/message/?password=x', status: 400 },
  { method: 'GET', path: '/api/user/2/', status: 200 },
  { method: 'PUT', path: '/api/user/2/', as: ['admin', 'admin'], body: '{"active": true}', status: 200 },
  { method: 'DELETE', path: '/api/message/:id/', as: alice, status: 204 },
  { method: 'GET', path: '/api/message/:id/', status: 404 },
  { method: 'PUT', path: '/api/message/1/', as: ['alice', 'wrong'], body: '{}', status: 401 }
]

export interface TrafficPlan {
  readonly url: string
  readonly seconds: number
  readonly connections: number
  /** Requests per second, of all connections. */
  readonly rate: number
}

export interface TrafficResult {
  readonly answered: number
  /** Milliseconds from when a request was due. */
  readonly p99: number
  /** How often something else happened than the right answer, by what it was. */
  readonly wrong: Readonly<Record<string, number>>
}

interface Created { id?: string }

/** Sends the mixture, in which every record that is created is deleted again. */
export async function sendTraffic ({ url, seconds, connections, rate }: TrafficPlan): Promise<TrafficResult> {
  const wrong: Record<string, number> = {}
  const count = (what: string, times = 1): void => { if (times > 0) wrong[what] = (wrong[what] ?? 0) + times }
  const requests = steps.map(({ method, path, as, body, status }): autocannon.Request => ({
    method,
    path,
    headers: as === undefined ? {} : { authorization: basic(...as) },
    ...body !== undefined && { body },
    setupRequest: (request, context) => ({ ...request, path: path.replace(':id', (context as Created).id ?? '') }),
    onResponse: (answered, _body, context, headers) => {
      if (answered !== status) count(`${method} ${path}: ${answered} in place of ${status}`)
      if (answered === 201) {
        (context as Created).id = /(\d+)\/$/.exec(String((headers as Record<string, string>)?.['location']))?.[1] ?? ''
      }
    }
  }))
  const { errors, timeouts, resets, latency, requests: { total } } = await autocannon({
    url, duration: seconds, connections, overallRate: rate, timeout: 10, sampleInt: 100, requests
  })
  for (const [what, times] of Object.entries({ errors, timeouts, resets })) count(what, times)
  return { answered: total, p99: latency.p99, wrong }
}
