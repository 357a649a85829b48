import type { StorageName } from '../../engines/storage.js'
import { datetime, type Json } from '../../values/values.js'

/** Patterns that match the current time or day, in the forms that the engines' catalogs write. */
const clockPatterns: readonly RegExp[] = [
  /^(?:current_timestamp|localtimestamp|now|utc_timestamp|sysdate|current_date|curdate|utc_date)(?:\(\d*\))?$/i,
  /^(?:transaction|statement|clock)_timestamp\(\)$/i,
  /^'now'::text$/i,
  /^(?:datetime|date)\((?:'now'(?:, ?'subsec(?:ond)?')?)?\)$/i,
  /^strftime\('(?:%Y-%m-%d|%F)(?:[ T](?:%H:%M(?::%[Sf])?|%T)Z?)?', ?(?:'now'|current_timestamp)\)$/i
]
/** Matches a default that is a day without a time: the current day, or a moment that is cut to its day. */
const dayPattern = /\b(?:current_date|curdate|utc_date|date\()|::date\b|\bas date\)|strftime\('(?:%Y-%m-%d|%F)'/i
/** Patterns for SQL that keeps a time as it is, converts it to UTC or cuts it to a unit. The group matches the time. */
const timeWrappers: readonly RegExp[] = [
  /^(.*) at time zone '(?:etc\/)?(?:utc|gmt)'$/is,
  /^timezone\('(?:etc\/)?(?:utc|gmt)'(?:::text)?, (.*)\)$/is,
  /^date_trunc\('(?:second|milliseconds|microseconds)'(?:::text)?, (.*)\)$/is,
  /^cast\((.*) as date(?:time(?:\(\d\))?)?\)$/is,
  /^(?:datetime|date)\((.*)\)$/is,
  /^\((.*)\)$/s
]
/** Matches the type casts at the end of a default. */
const castsPattern =
  /(?:::(?:[\w ]+|"[^"]+")(?:\.(?:[\w ]+|"[^"]+"))?(?:\(\d+(?:,\d+)?\))?(?: with(?:out)? time zone)?)+$/i

/** Maximum number of tests in {@link isNow}. It removes a layer after each test, and returns false after the last. */
const maxTests = 10

/** Stands for a default that a field of its kind cannot declare: an SQL expression, or a value of another kind. */
export const expression = Symbol('expression')

/**
 * Returns the default that a field can declare for the default of its column: `now` for the current time or day,
 * otherwise a value. Returns {@link expression} if a field of the kind cannot declare it, and undefined if the column
 * has no default, or null. The caller must check the value: it may break a rule of the kind or an option of the field.
 *
 * @param declared  the default as SQL, in whose texts a backslash is an ordinary character; null if there is none
 */
export function defaultValue (kind: StorageName, declared: string | null): Json | undefined | typeof expression {
  const written = declared ?? 'null'
  const isDay = dayPattern.test(written)
  if ((kind === 'date' || (kind === 'datetime' && !isDay)) && isNow(written)) return 'now'
  const text = bare(written)
  if (/^null$/i.test(text)) return undefined
  const literal = kind === 'text' ? readTextLiteral(text) : readLiteral(text)
  return literal === undefined ? expression : literalConverters[kind]?.(literal) ?? expression
}

/**
 * True if a default is the current time or day. Removes casts, time zones, cuts and parentheses, layer by layer.
 * A pattern must match all of the rest. So it does no harm that `(now()) + (x)` without its outer parentheses is
 * `now()) + (x`: no pattern matches this text.
 */
function isNow (declared: string): boolean {
  let rest = declared.trim()
  for (let layer = 0; layer < maxTests; layer += 1) {
    if (clockPatterns.some((pattern) => pattern.test(rest))) return true
    const inner = rest.replace(castsPattern, '')
    const wrapped = timeWrappers.map((wrapper) => wrapper.exec(inner)?.[1]).find((found) => found !== undefined)
    if (inner === rest && wrapped === undefined) return false
    rest = wrapped ?? inner
  }
  return false
}

/** Removes the parentheses and the casts around a default. */
function bare (text: string): string {
  let previous = ''
  let rest = text.trim()
  while (rest !== previous) {
    previous = rest
    rest = rest.replace(/^\(((?:[^()']|'[^']*'|\(\))*)\)$/s, '$1').trim()
    const isCast = /^(?:'(?:[^']|'')*'|[-\w.]+|\(.*\))::/s.test(rest)
    if (isCast) rest = rest.replace(castsPattern, '')
  }
  return rest
}

/**
 * Returns the value of an SQL literal as text: `abc` for `'abc'`, and numbers, `true` and `false` as they are. Also
 * `0` for MariaDB's bit `b'0'`, and `abc` for SQLite's text `"abc"`. Returns undefined for anything else.
 */
function readLiteral (text: string): string | undefined {
  const [, quoted] = /^'((?:[^']|'')*)'$/s.exec(text) ?? []
  if (quoted !== undefined) return quoted.replaceAll("''", "'")
  const [, other] = /^"((?:[^"]|"")*)"$/s.exec(text) ?? /^b'([01])'$/i.exec(text) ?? []
  if (other !== undefined) return other.replaceAll('""', '"')
  return /^(?:[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?|true|false)$/i.test(text) ? text : undefined
}

/**
 * Returns what a text column stores for a literal: the text in its quotes, or the digits of a whole number, as `7` for
 * `007`. Returns undefined for other literals without quotes, because engines store them in ways of their own: SQLite
 * stores `1` for `true`, and `1.5` for `1.50`.
 */
function readTextLiteral (text: string): string | undefined {
  // Longer numbers may exceed 64 bits, and are then stored as floating-point numbers.
  if (/^[-+]?\d{1,18}$/.test(text)) return String(BigInt(text))
  return text.endsWith("'") || text.endsWith('"') ? readLiteral(text) : undefined
}

/** Booleans by the literals, in lower case, that the engines write for them in a default. */
const booleanLiterals = new Map([
  ['1', true], ['true', true], ['t', true], ['0', false], ['false', false], ['f', false]
])

const finite = (text: string): number | undefined =>
  text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined

/**
 * Functions that turn a literal into the default of a kind, or return undefined if they cannot. They do not check every
 * rule of the kind: `integer` takes 1.5, and `uuid` any text.
 */
const literalConverters: Readonly<Partial<Record<StorageName, (literal: string) => Json | undefined>>> = {
  text: (literal) => literal,
  integer: finite,
  number: finite,
  bigint: (literal) => /^-?\d+$/.test(literal) ? String(BigInt(literal)) : undefined,
  decimal: (literal) => finite(literal) === undefined ? undefined : literal,
  boolean: (literal) => booleanLiterals.get(literal.toLowerCase()),
  datetime,
  date: (literal) => datetime(literal)?.slice(0, 10),
  uuid: (literal) => literal.toLowerCase(),
  json: readJson
}

function readJson (literal: string): Json | undefined {
  try {
    return JSON.parse(literal)
  } catch {
    return undefined
  }
}
