import type { ErrorCode, FieldFault } from '../errors.js'
import type { FetchAnswer } from './fetch.js'

/** An answer that is an error. What goes wrong before there is an answer stays what `fetch` throws. */
export class RestModelsError extends Error {
  override readonly name = 'RestModelsError'
  /** The status of the answer. */
  readonly status: number
  /** The code of the error; another one if the error is the host's own, and undefined if the answer tells none. */
  readonly code: ErrorCode | (string & {}) | undefined
  /** What is wrong with which parameter or field. */
  readonly details: readonly FieldFault[]
  /** Seconds after which the request may be repeated; undefined if the answer tells none. */
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

/** The error that an answer tells; a 401 is a text, and what stands before the server answers as it likes. */
export function toFailure ({ status, statusText, headers }: FetchAnswer, body: string): RestModelsError {
  const { code, message, details } = parseObject(body)
  const refusal = status === 401 ? { code: 'REST_MODELS_AUTHENTICATION_FAILED' satisfies ErrorCode, message: 'Authentication failed' } : undefined
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

/** Retry-After holds seconds, or a date (RFC 9110, section 10.2.3). */
function secondsOf (header: string | null): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header)
  const moment = Date.parse(header)
  return Number.isNaN(moment) ? undefined : Math.max(0, Math.ceil((moment - Date.now()) / 1000))
}
