import type { ErrorCode, FieldFault } from '../errors.js'
import type { FetchAnswer } from './fetch.js'

/** Thrown when an answer is an error or not JSON. If there is no answer, the client throws what `fetch` throws. */
export class RestModelsError extends Error {
  override readonly name = 'RestModelsError'
  /** The HTTP status of the answer. */
  readonly status: number
  /**
   * The code of the error: one of the API, or another if the app around the API made the answer. If the answer has no
   * code: `REST_MODELS_AUTHENTICATION_FAILED` for status 401, otherwise undefined.
   */
  readonly code: ErrorCode | (string & {}) | undefined
  /** The faults of parameters or fields. Empty if the answer lists none. */
  readonly details: readonly FieldFault[]
  /** Seconds after which the request may be repeated. Undefined if the answer has no valid `Retry-After`. */
  readonly retryAfter: number | undefined

  constructor (message: string, { status, code, details = [], retryAfter, cause }: {
    readonly status: number
    readonly code?: string | undefined
    readonly details?: readonly FieldFault[]
    readonly retryAfter?: number | undefined
    readonly cause?: unknown
  }) {
    super(message, cause === undefined ? {} : { cause })
    this.status = status
    this.code = code
    this.details = details
    this.retryAfter = retryAfter
  }
}

/**
 * Returns the error for an answer. The body need not be JSON: the server's own 401 is a text, and a proxy in front of
 * the server answers in any form.
 */
export function toFailure ({ status, statusText, headers }: FetchAnswer, body: string): RestModelsError {
  const { code, message, details } = parseObject(body)
  const refusal = status === 401
    ? { code: 'REST_MODELS_AUTHENTICATION_FAILED' satisfies ErrorCode, message: 'Authentication failed' }
    : undefined
  return new RestModelsError(textOf(message) ?? refusal?.message ?? `HTTP ${status} ${statusText}`.trimEnd(), {
    status,
    code: textOf(code) ?? refusal?.code,
    details: Array.isArray(details) ? details.filter(isFault) : [],
    retryAfter: secondsOf(headers.get('retry-after'))
  })
}

function parseObject (body: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body))
  } catch {
    return {}
  }
}

function textOf (value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function isFault (fault: unknown): fault is FieldFault {
  const { field, message } = Object(fault)
  return typeof field === 'string' && typeof message === 'string'
}

/**
 * Returns the seconds to wait by a header `Retry-After`, which holds seconds or a date (RFC 9110, section 10.2.3).
 * Returns undefined if the header is absent or invalid.
 */
function secondsOf (header: string | null): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header)
  // `Date.parse` also takes `-5` for a date.
  const moment = header.endsWith(' GMT') ? Date.parse(header) : NaN
  return Number.isNaN(moment) ? undefined : Math.max(0, Math.ceil((moment - Date.now()) / 1000))
}
