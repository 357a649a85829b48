import { RestModelsError, toFailure } from './failure.js'
import type { FetchInit, Signal } from './fetch.js'
import type { Endpoint } from './options.js'

/** What a call may be given beside what it is about. */
export interface CallOptions {
  /** Ends the request, with what `fetch` throws then. */
  readonly signal?: Signal | undefined
}

export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Behind the prefix, with a slash at its beginning. */
  readonly path: string
  readonly body?: unknown
}

/**
 * Sends one request.
 *
 * @returns the JSON of the answer; undefined if it has no body
 * @throws RestModelsError if the answer is an error or no JSON, and whatever `fetch` throws
 */
export async function send (endpoint: Endpoint, { method, path, body, signal }: Call): Promise<unknown> {
  const headers = await endpoint.headers()
  const init: FetchInit = {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    credentials: endpoint.credentials,
    // The API never redirects. What leads elsewhere would get a write as a GET, and the record.
    redirect: 'error',
    ...body !== undefined && { body: JSON.stringify(body, requireJson) },
    ...signal !== undefined && { signal }
  }
  const answer = await endpoint.fetch(endpoint.url + path, init)
  const text = await answer.text()
  if (!answer.ok) throw toFailure(answer, text)
  return text === '' ? undefined : parse(text, answer.status)
}

/** JSON would make null of it. */
function requireJson (name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`'${name}' is no number that can be sent`)
  return value
}

function parse (text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new RestModelsError("The answer is no JSON; is 'baseUrl' right?", { status, cause })
  }
}
