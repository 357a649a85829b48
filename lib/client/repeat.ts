import { RestModelsError } from './failure.js'
import type { Signal } from './fetch.js'
import type { Endpoint } from './options.js'
import { prepare, type Call } from './send.js'

/** Times that a request is repeated at most. */
export const maxRepeats = 3
/** Longest `Retry-After`, in seconds, for which the client waits. After a longer one, the call fails at once. */
const maxRetryAfter = 10
/**
 * Shortest pause, in milliseconds, before the first repetition of a request. Each further pause is twice as long. A
 * random part makes every pause up to twice as long, and after status 503 the time in `Retry-After` is added.
 */
const firstPause = 250

/**
 * Sends a request. Repeats it up to three times if the answer is REST_MODELS_UNAVAILABLE (503) with a `Retry-After` of
 * at most ten seconds. With this code, the server says that it certainly did not execute the request. Never repeats a
 * request that may have been executed.
 *
 * @returns the parsed JSON of the answer, or undefined if the answer has no body
 * @throws the failure of the last request: RestModelsError, or what `fetch` throws; TypeError as {@link prepare}
 */
export async function send (endpoint: Endpoint, call: Call): Promise<unknown> {
  const request = await prepare(endpoint, call)
  for (let repeats = 0; ; repeats++) {
    try {
      return await request()
    } catch (failure) {
      const pause = isNotExecuted(failure) ? pauseAfter(failure, { repeats }) : undefined
      if (pause === undefined || repeats === maxRepeats) throw failure
      await wait(pause, call.signal)
    }
  }
}

/**
 * True if the answer has the code REST_MODELS_UNAVAILABLE. With it, the server says that it certainly did not execute
 * the request.
 */
export function isNotExecuted (failure: unknown): boolean {
  return failure instanceof RestModelsError && failure.code === 'REST_MODELS_UNAVAILABLE'
}

/**
 * Returns the milliseconds to wait before a repetition; undefined if a repetition cannot help. It can help if there was
 * no answer, after 502 and 504, and after a 503 that asks to wait for at most ten seconds. It can also help after 404
 * if `isStored` says that the record exists. The caller decides whether a repetition is safe.
 *
 * @param repeats  number of repetitions so far
 */
export function pauseAfter (
  failure: unknown, { repeats, isStored = false }: { readonly repeats: number, readonly isStored?: boolean }
): number | undefined {
  const backoff = firstPause * 2 ** repeats * (1 + Math.random())
  if (!(failure instanceof RestModelsError)) return backoff
  const { status, retryAfter = Infinity } = failure
  if (status === 503) return retryAfter <= maxRetryAfter ? retryAfter * 1000 + backoff : undefined
  // 502 and 504: a gateway got no answer. 404 for a stored record: a replica that lags does not have the record yet.
  return status === 502 || status === 504 || (isStored && status === 404) ? backoff : undefined
}

/** Waits. If the signal aborts, it throws what `fetch` would throw. */
export async function wait (milliseconds: number, signal: Signal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const go = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', go)
      resolve()
    }
    const timer = setTimeout(go, milliseconds)
    signal?.addEventListener('abort', go)
  })
  signal?.throwIfAborted()
}
