import { RestModelsError } from './failure.js'
import type { Signal } from './fetch.js'
import type { Endpoint } from './options.js'
import { prepare, type Call, type CallOptions } from './send.js'

/** Times that a request is repeated at most. */
const maxRepeats = 3
/** Longest `Retry-After`, in seconds, for which the client waits. After a longer one, the call fails at once. */
const maxRetryAfter = 10
/**
 * Shortest pause, in milliseconds, before the first repetition of a request. Each further pause is twice as long. A
 * random part makes every pause up to twice as long, and after status 503 the time in `Retry-After` is added.
 */
const firstPause = 250

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The body of a create that contains the key of the record, a UUID that the client made. */
interface KeyedBody {
  readonly id: string
}

interface KeyedCreate extends CallOptions {
  /** Path of the list, after the prefix. */
  readonly path: string
  readonly body: KeyedBody
}

/** True if the body of a create has a UUID as its `id`, so that the create may be repeated. */
export function hasOwnKey (body: unknown): body is KeyedBody {
  const { id } = Object(body)
  return typeof id === 'string' && uuidPattern.test(id)
}

/**
 * Sends a request. Repeats it up to three times if the server says that it certainly was not executed, and may be tried
 * again after at most ten seconds. Never repeats a request that may have been executed.
 *
 * @returns the parsed JSON of the answer, or undefined if the answer has no body
 * @throws RestModelsError, and what `fetch` throws: the failure of the last request
 */
export async function send (endpoint: Endpoint, call: Call): Promise<unknown> {
  const request = await prepare(endpoint, call)
  for (let repeats = 0; ; repeats++) {
    try {
      return await request()
    } catch (failure) {
      const pause = isUndone(failure) ? pauseAfter(failure, { repeats }) : undefined
      if (pause === undefined || repeats === maxRepeats) throw failure
      await wait(pause, call.signal)
    }
  }
}

/** True if the server says that the request certainly was not executed. */
function isUndone (failure: unknown): boolean {
  return failure instanceof RestModelsError && failure.code === 'REST_MODELS_UNAVAILABLE'
}

/**
 * Creates a record whose key the client has made, and returns the record. Repeats the request if the server asks for
 * that (503), or if the answer was lost. If a repetition is refused, and an earlier request may have stored the record,
 * the record is read and returned: the refusal may come from a rule that the record itself breaks, or before the server
 * looks for the key. A record with this key is this one, because random UUIDs are never equal by chance. Its values are
 * not compared with the body, because the server sets and converts some of them, and somebody else may have changed the
 * record since.
 *
 * @throws as {@link send}; the refusal if the record is not there or the user may not read it; if its read fails
 *   otherwise, the failure of the read
 */
export async function createOnce (endpoint: Endpoint, { path, body, signal }: KeyedCreate): Promise<unknown> {
  const create = await prepare(endpoint, { method: 'POST', path, body, signal })
  const read = await prepare(endpoint, { method: 'GET', path: `${path}${body.id}/`, signal })
  let mayBeStored = false
  for (let repeats = 0; ; repeats++) {
    try {
      return await create()
    } catch (failure) {
      const isStored = mayBeStored && isTaken(failure)
      if (mayBeStored && !isStored && isRefusal(failure)) return await readTwice(read, failure, signal)
      mayBeStored ||= !isUndone(failure)
      const outcome = isStored ? await attempt(read) : { failure }
      if ('record' in outcome) return outcome.record
      const pause = pauseAfter(outcome.failure, { repeats, isStored })
      if (signal?.aborted === true) throw outcome.failure
      if (pause === undefined || repeats === maxRepeats) throw isUnread(outcome.failure) ? failure : outcome.failure
      await wait(pause, signal)
    }
  }
}

/**
 * Reads a record that an earlier request may have stored, although the last one was refused. If the answer is lost, or
 * the record is not found, reads it once more after a pause: a replica may lag. Further reads would delay the refusal
 * of a record that was never stored. The create is not repeated, because the server would refuse it again.
 *
 * @throws the refusal if the record is not there or the user may not read it; otherwise the failure of the last read
 */
async function readTwice (
  read: () => Promise<unknown>, refusal: unknown, signal: Signal | undefined
): Promise<unknown> {
  let outcome = await attempt(read)
  const pause = 'record' in outcome ? undefined : pauseAfter(outcome.failure, { repeats: 0, isStored: true })
  if (pause !== undefined && signal?.aborted !== true) {
    await wait(pause, signal)
    outcome = await attempt(read)
  }
  if ('record' in outcome) return outcome.record
  throw isUnread(outcome.failure) ? refusal : outcome.failure
}

/** True if the server refused a request, so that this request has changed nothing. */
function isRefusal (failure: unknown): boolean {
  return failure instanceof RestModelsError && failure.status >= 400 && failure.status < 500
}

/** True if the user may not read the record, or it is not there. */
function isUnread (failure: unknown): boolean {
  return failure instanceof RestModelsError && [401, 403, 404].includes(failure.status)
}

async function attempt (read: () => Promise<unknown>): Promise<{ record: unknown } | { failure: unknown }> {
  try {
    return { record: await read() }
  } catch (failure) {
    return { failure }
  }
}

/** True if a create failed because a record with the same key exists already. */
function isTaken (failure: unknown): boolean {
  return failure instanceof RestModelsError && failure.code === 'REST_MODELS_NOT_UNIQUE' &&
    failure.details.some(({ field }) => field === 'id')
}

/** Returns the milliseconds to wait before a repetition; undefined if the request must not be repeated. */
function pauseAfter (
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
async function wait (milliseconds: number, signal: Signal | undefined): Promise<void> {
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
