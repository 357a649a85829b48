import type { StorageName } from '../../engines/storage.js'
import { datetime, type Json } from '../../values/values.js'

/** Matches a default that is the current time, as the engines' catalogs write it. */
const nowPattern = /^(?:current_timestamp|now|utc_timestamp|transaction_timestamp|statement_timestamp|current_date|curdate|utc_date)(?:\(\d*\))?$|^(?:datetime|date)\('now'\)$/i
/** Matches the current time in UTC, cut to seconds or to days, as PostgreSQL's catalog writes it. */
const utcNowPattern = /^(?:date_trunc\('second'(?:::text)?, )?\(?\(?(?:now\(\)|current_timestamp) at time zone 'utc'(?:::text)?\)*(?:::date)?$/i
/** Matches the type casts at the end of a default. */
const castsPattern = /(?:::(?:[\w ]+|"[^"]+")(?:\.(?:[\w ]+|"[^"]+"))?(?:\(\d+(?:,\d+)?\))?)+$/i

/** Stands for a default that a field cannot declare: an SQL expression that is not a literal or the current time. */
export const expression = Symbol('expression')

/**
 * Returns the default of a field for that of a column, {@link expression} if a field of the kind cannot declare that
 * default, or undefined if the column has none.
 */
export function defaultValue (kind: StorageName, declared: string | null): Json | undefined | typeof expression {
  const text = bare(declared ?? 'null')
  if (/^null$/i.test(text)) return undefined
  if (nowPattern.test(text) || utcNowPattern.test(text)) {
    return kind === 'datetime' || kind === 'date' ? 'now' : expression
  }
  const literal = readLiteral(text)
  return literal === undefined ? expression : literalConverters[kind]?.(literal) ?? expression
}

/** Removes the parentheses and the casts around a default. */
function bare (text: string): string {
  let previous = ''
  let rest = text.trim()
  while (rest !== previous) {
    previous = rest
    rest = rest.replace(/^\(((?:[^()']|'[^']*'|\(\))*)\)$/s, '$1').trim()
    const isCast = /^(?:'(?:[^']|'')*'|[-\w.]+|\(.*\))::/s.test(rest)
    if (isCast && !utcNowPattern.test(rest)) rest = rest.replace(castsPattern, '')
  }
  return rest
}

/**
 * Returns the value of an SQL literal as text: `abc` for `'abc'`, and numbers, `true` and `false` as they are. Returns
 * undefined for anything else, and for a text with a backslash, which engines read differently.
 */
function readLiteral (text: string): string | undefined {
  if (text.includes('\\')) return undefined
  const [, quoted] = /^'((?:[^']|'')*)'$/s.exec(text) ?? []
  if (quoted !== undefined) return quoted.replaceAll("''", "'")
  return /^(?:[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?|true|false)$/i.test(text) ? text : undefined
}

/** The boolean literals of the engines. */
const booleanLiterals = new Map([
  ['1', true], ['true', true], ['t', true], ['0', false], ['false', false], ['f', false]
])

const finite = (text: string): number | undefined =>
  text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined

/** Functions that turn a literal into the default of a kind. They return undefined if the kind cannot have it. */
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
