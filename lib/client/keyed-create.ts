import { RestModelsError } from './failure.js'
import type { Signal } from './fetch.js'
import type { Endpoint } from './options.js'
import { isNotExecuted, maxRepeats, pauseAfter, wait } from './repeat.js'
import { prepare, type CallOptions } from './send.js'

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
export function bringsKey (body: unknown): body is KeyedBody {
  const { id } = Object(body)
  return typeof id === 'string' && uuidPattern.test(id)
}

/**
 * Creates a record whose key the client has made, and returns the record. Repeats the request up to three times if the
 * server asks for that (503), or if the answer was lost. An earlier request may have stored the record. A repetition
 * may then be refused (4xx) because of this stored record, for example because an email address must be unique. So the
 * record with this key is read and returned. It can only be the record of this call, because random UUIDs are never
 * equal by chance. Its values are not compared with the body: the server sets and converts some, and somebody may have
 * changed others.
 *
 * @throws what `send` throws. If the record was to be read: the refusal if the record is not there or the user may not
 *   read it, otherwise the failure of the read.
 */
export async function createOnce (endpoint: Endpoint, { path, body, signal }: KeyedCreate): Promise<unknown> {
  const headers = await endpoint.headers()
  const same = { ...endpoint, headers: async () => headers }
  const create = await prepare(same, { method: 'POST', path, body, signal })
  const read = await prepare(same, { method: 'GET', path: `${path}${body.id}/`, signal })
  let mayBeStored = false
  for (let repeats = 0; ; repeats++) {
    try {
      return await create()
    } catch (failure) {
      const isStored = mayBeStored && isTaken(failure)
      if (mayBeStored && !isStored && isRefusal(failure)) return await readTwice(read, failure, signal)
      mayBeStored ||= !isNotExecuted(failure)
      const outcome = isStored ? await attempt(read) : { failure }
      if ('record' in outcome) return outcome.record
      const pause = pauseAfter(outcome.failure, { repeats, isStored })
      if (signal?.aborted === true) throw outcome.failure
      if (pause === undefined || repeats === maxRepeats) throw isUnreadable(outcome.failure) ? failure : outcome.failure
      await wait(pause, signal)
    }
  }
}

/**
 * Reads a record after a repeated create was refused, because an earlier create may have stored the record. Reads once
 * more after a pause if the answer is lost or a 503 that asks for that, or if the record is not found, because a
 * replica may lag. Further reads would delay the refusal of a record that was never stored. The create is not repeated,
 * because it would be refused again.
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
  throw isUnreadable(outcome.failure) ? refusal : outcome.failure
}

/** True if the server refused a request, so that this request has changed nothing. */
function isRefusal (failure: unknown): boolean {
  return failure instanceof RestModelsError && failure.status >= 400 && failure.status < 500
}

/** True if the user may not read the record, or it is not there. */
function isUnreadable (failure: unknown): boolean {
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
