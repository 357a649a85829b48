import { isUtf8 } from 'node:buffer'
import secureJson from 'secure-json-parse'
import { errors, messageOf } from '../errors.js'
import { readMultipart } from './multipart.js'
import { decodeEntries, type Entries } from './query-string.js'

/** Body parser for Fastify that leaves a body as bytes, so that {@link parsePayload} can read it. */
export const keepBytes = (_request: unknown, body: Buffer, done: (failure: null, body: Buffer) => void): void => {
  done(null, body)
}

/** The body of a create or an update, read but not yet checked: any names, any JSON values. */
export type Payload = Readonly<Record<string, unknown>>

type ReadForm = (body: Buffer, contentType: string) => Promise<Entries>

const formReaders: ReadonlyMap<string, ReadForm> = new Map<string, ReadForm>([
  ['application/x-www-form-urlencoded', async (body) => decodeEntries(body.toString(), 2)],
  ['multipart/form-data', readMultipart]
])

/**
 * Reads a JSON object: the body itself, whatever its content type, or the field `data` of a form.
 *
 * @param wanted  what the body must be, in words that follow "The body"
 * @throws REST_MODELS_INVALID_BODY (400) if the body is not valid UTF-8, not one JSON object, holds the keys
 *   `__proto__` or `constructor.prototype`, or is a form with other fields than one `data`;
 *   REST_MODELS_INVALID_QUERY (400) if an urlencoded form cannot be decoded
 * @see service document, "POST create"
 */
export function parsePayload (body: unknown, contentType = '', wanted = anyObject): Payload | Promise<Payload> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  if (!isUtf8(bytes)) throw new errors.InvalidBody('must be valid UTF-8')
  const readForm = formReaders.get(mediaTypeOf(contentType))
  const text = bytes.toString()
  // Clients such as `curl -d` send JSON with the content type of a form. No form begins with a brace.
  return readForm !== undefined && !text.trimStart().startsWith('{')
    ? readForm(bytes, contentType).then((entries) => parseForm(entries, wanted))
    : parseObject(text, wanted)
}

/**
 * Reads the body of a PATCH, as {@link parsePayload} does. A JSON Patch (RFC 6902) is refused with words that say what
 * is expected.
 */
export function parsePatch (body: unknown, contentType = ''): Payload | Promise<Payload> {
  if (mediaTypeOf(contentType) === 'application/json-patch+json') throw new errors.InvalidBody(patchObject)
  return parsePayload(body, contentType, patchObject)
}

/** Requirements of a body, in words that follow "The body". */
const anyObject = 'must be one JSON object'
const patchObject = 'must be one JSON object of the fields to change, not a JSON Patch'

function mediaTypeOf (contentType: string): string {
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

function parseForm ([first, second]: Entries, wanted: string): Payload {
  if (first?.[0] !== 'data' || second !== undefined) {
    throw new errors.InvalidBody("must be a form with one field 'data' and no other")
  }
  return parseObject(first[1], wanted)
}

function parseObject (text: string, wanted: string): Payload {
  const value = text === '' ? undefined : parseJson(text)
  if (isPayload(value)) return value
  throw new errors.InvalidBody(wanted)
}

function isPayload (value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseJson (text: string): unknown {
  try {
    return secureJson(text, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    throw new errors.InvalidBody(jsonFault(messageOf(error)))
  }
}

/**
 * Returns the fault of a text that the JSON parser refused with `message`: a forbidden key, or no valid JSON, with the
 * position if the parser names it.
 */
function jsonFault (message: string): string {
  if (message.includes('forbidden prototype property')) {
    return "must not have the keys '__proto__' and 'constructor.prototype'"
  }
  const [, position] = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message) ?? []
  return `is not valid JSON${position === undefined ? '' : ` (position ${position})`}`
}
