import { ifMatchHeader, keepEtag } from './etags.js'
import { RestModelsError, toFailure } from './failure.js'
import type { FetchInit, Signal } from './fetch.js'
import type { Endpoint } from './options.js'

/** Options of a single call. With an unknown one, the call fails with a TypeError, and nothing is sent. */
export interface CallOptions {
  /** Aborts the request. The call then fails with what `fetch` throws. */
  readonly signal?: Signal | undefined
}

/** Options of a call that updates or deletes a record of a resource with the option `etag`. */
export interface ConditionalOptions extends CallOptions {
  /**
   * The record as `create`, `update` or a `read` without `include` returned it, or the text of its `ETag`. The call
   * fails with status 412 if the record has changed on the server since then.
   */
  readonly ifMatch?: object | string | undefined
}

export interface Call extends ConditionalOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path after the prefix, with a slash at its start. */
  readonly path: string
  readonly body?: unknown
  /**
   * True if the answer is a page of a list, or a record together with related ones. The client keeps no ETag of such an
   * answer. A plugin of the server may have added one, and it stands for the whole answer instead of the record.
   */
  readonly isComposed?: boolean
}

/**
 * Prepares a request. The option `headers` is read once, so that every repetition sends the same headers.
 *
 * @returns a function that sends the request each time that it is called. It returns the parsed JSON of the answer, or
 *   undefined if a delete is answered without a body. It throws RestModelsError if the answer is an error or not JSON,
 *   and what `fetch` throws.
 * @throws TypeError if `ifMatch`, a header or a number in the body cannot be sent
 */
export async function prepare (
  endpoint: Endpoint, { method, path, body, signal, ifMatch, isComposed = false }: Call
): Promise<() => Promise<unknown>> {
  const condition = ifMatchHeader(ifMatch)
  const headers = { ...await endpoint.headers(), ...condition }
  const init: FetchInit = {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    credentials: endpoint.credentials,
    // The API never redirects. Following a redirect would turn a write into a GET, or send the record elsewhere.
    redirect: 'error',
    ...body !== undefined && { body: JSON.stringify(body, requireJson) },
    ...signal !== undefined && { signal }
  }
  // Browsers refuse to call their `fetch` as a method of another object.
  const { fetch, url } = endpoint
  return async () => {
    const answer = await fetch(url + path, init)
    const text = await answer.text()
    if (!answer.ok) throw toFailure(answer, text)
    const parsed = text === '' && method === 'DELETE' ? undefined : parse(text, answer.status)
    if (!isComposed) keepEtag(parsed, answer.headers.get('etag'))
    return parsed
  }
}

/**
 * Returns the value unchanged, for `JSON.stringify`. Throws a TypeError for NaN and infinite numbers, because JSON
 * would turn them into null.
 */
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
