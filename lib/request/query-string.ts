import { errors, fieldError } from '../errors.js'

/** Names and values of a query string or a form, decoded, in the order in which they were written. */
export type Entries = ReadonlyArray<readonly [name: string, value: string]>

/** Functions that find the parts of a URL. */
export interface UrlParts {
  /** Returns the text before the query string. */
  readonly pathOf: (url: string) => string
  /** Returns the query string, or '' if there is none. */
  readonly queryOf: (url: string) => string
}

/**
 * Returns the functions that find the parts of a URL. The path ends before the first `?` or `#`, as for routers. If
 * `beginsAtSemicolon` is true, it also ends before `;`.
 */
export function compileUrlParts (beginsAtSemicolon: boolean): UrlParts {
  const mark = beginsAtSemicolon ? /[?#;]/ : /[?#]/
  return {
    pathOf (url) {
      const end = url.search(mark)
      return end === -1 ? url : url.slice(0, end)
    },
    queryOf (url) {
      const start = url.search(mark)
      return start === -1 ? '' : url.slice(start + 1)
    }
  }
}

/**
 * Decodes a query string.
 *
 * @throws REST_MODELS_QUERY_TOO_LONG (414) if it has more than `maxLength` UTF-16 units;
 *   REST_MODELS_INVALID_QUERY (400) as {@link decodeEntries}
 */
export function parseEntries (query: string, maxLength: number): Entries {
  if (query.length > maxLength) throw new errors.QueryTooLong()
  return decodeEntries(query)
}

type NamedError = new (name: string) => Error

/**
 * Returns the value of a parameter; undefined if it is absent. Throws a `Fault` if the parameter is there more than
 * once.
 */
export function single (entries: Entries, name: string, Fault: NamedError): string | undefined {
  let found: string | undefined
  for (const [written, value] of entries) {
    if (written !== name) continue
    if (found !== undefined) throw fieldError(Fault, name, 'must be given once')
    found = value
  }
  return found
}

/** Returns the parts of a value that are separated by commas. An absent or empty value has none. */
export function splitAtCommas (text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(',')
}

/**
 * Refuses every parameter, on routes that have none.
 *
 * @throws REST_MODELS_UNKNOWN_PARAMETER (400) naming the first one; otherwise as {@link parseEntries}
 */
export function requireNoQuery (query: string, maxLength: number): void {
  if (query === '') return
  const [first] = parseEntries(query, maxLength)
  if (first !== undefined) throw unknownParameter(first[0])
}

/**
 * Returns the error for a parameter that the client may not use. It is the same for a hidden field as for a name that
 * does not exist, so that it gives nothing away.
 *
 * @param hint  words at the end of the message that suggest another name; they must name no hidden field
 */
export function unknownParameter (name: string, hint = ''): Error {
  return fieldError(errors.UnknownParameter, name, `is not a parameter of this resource${hint}`)
}

/**
 * Decodes `application/x-www-form-urlencoded` text strictly. Fastify's own parser and URLSearchParams let broken
 * escapes through as they are, and the application may have set another parser.
 *
 * @param most  number of entries after which the rest of the text is not read
 * @throws REST_MODELS_INVALID_QUERY (400) if an escape is not the percent-encoding of UTF-8
 */
export function decodeEntries (text: string, most = Infinity): Entries {
  const entries: Array<Entries[number]> = []
  for (let start = 0; start < text.length && entries.length < most;) {
    const found = text.indexOf('&', start)
    const end = found === -1 ? text.length : found
    if (end > start) entries.push(decodeEntry(text.slice(start, end)))
    start = end + 1
  }
  return entries
}

function decodeEntry (part: string): Entries[number] {
  const equals = part.indexOf('=')
  return equals === -1 ? [decode(part), ''] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))]
}

function decode (text: string): string {
  if (!/[%+]/.test(text)) return text
  try {
    // replaceAll() takes four times as long for a million plus signs.
    return decodeURIComponent(text.split('+').join(' '))
  } catch (cause) {
    throw new errors.InvalidQuery({ cause })
  }
}
