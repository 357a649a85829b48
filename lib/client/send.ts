import { RestModelsError, toFailure } from './failure.js'
import type { FetchInit, Signal } from './fetch.js'
import type { Endpoint } from './options.js'

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the request. The call then fails with what `fetch` throws. */
  readonly signal?: Signal | undefined
}

export interface Call extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path after the prefix, with a slash at its start. */
  readonly path: string
  readonly body?: unknown
}

/**
 * Sends one request.
 *
 * @returns the parsed JSON of the answer, or undefined if it has no body
 * @throws RestModelsError if the answer is an error or not JSON, and what `fetch` throws
 */
export async function send (endpoint: Endpoint, call: Call): Promise<unknown> {
  const request = await prepare(endpoint, call)
  return await request()
}

/**
 * Prepares a request.
 *
 * @returns a function that sends the request each time that it is called, as {@link send} says
 */
export async function prepare (
  endpoint: Endpoint, { method, path, body, signal }: Call
): Promise<() => Promise<unknown>> {
  const headers = await endpoint.headers()
  const init: FetchInit = {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    credentials: endpoint.credentials,
    // The API never redirects. Following a redirect would turn a write into a GET, or send the record elsewhere.
    redirect: 'error',
    ...body !== undefined && { body: JSON.stringify(body, requireJson) },
    ...signal !== undefined && { signal }
  }
  return async () => {
    const answer = await endpoint.fetch(endpoint.url + path, init)
    const text = await answer.text()
    if (!answer.ok) throw toFailure(answer, text)
    return text === '' ? undefined : parse(text, answer.status)
  }
}

/** Refuses NaN and infinite numbers, because JSON would turn them into null. */
function requireJson (name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`'${name}' must be a finite number, because JSON has no others`)
  }
  return value
}

function parse (text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new RestModelsError("The answer is not JSON; check 'baseUrl'", { status, cause })
  }
}
