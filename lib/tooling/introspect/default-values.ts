import type { StorageName } from '../../engines/storage.js'
import { datetime, type Json } from '../../values/values.js'

/** Functions of the engines that give the present, in the forms in which they tell a default. */
const now = /^(?:current_timestamp|now|utc_timestamp|transaction_timestamp|statement_timestamp|current_date|curdate|utc_date)(?:\(\d*\))?$|^(?:datetime|date)\('now'\)$/i
/** The present in UTC, cut to seconds or to days, as PostgreSQL writes it back. */
const nowInUtc = /^(?:date_trunc\('second'(?:::text)?, )?\(?\(?(?:now\(\)|current_timestamp) at time zone 'utc'(?:::text)?\)*(?:::date)?$/i
const casts = /(?:::(?:[a-z_ ]+|"[^"]+")(?:\(\d+(?:,\d+)?\))?)+$/i

/** A default that has no counterpart: an expression of the database. */
export const expression = Symbol('expression')

/** The default of a field for that of a column; undefined if there is none. */
export function defaultValue (kind: StorageName, declared: string | null): Json | undefined | typeof expression {
  const text = bare(declared ?? 'null')
  if (/^null$/i.test(text)) return undefined
  if (now.test(text) || nowInUtc.test(text)) return kind === 'datetime' || kind === 'date' ? 'now' : expression
  const literal = readLiteral(text)
  return literal === undefined ? expression : convert[kind]?.(literal) ?? expression
}

/** Without the parentheses and the casts around it. */
function bare (text: string): string {
  let previous = ''
  let rest = text.trim()
  while (rest !== previous) {
    previous = rest
    rest = rest.replace(/^\(((?:[^()']|'[^']*'|\(\))*)\)$/s, '$1').trim()
    if (/^(?:'(?:[^']|'')*'|[-\w.]+|\(.*\))::/s.test(rest) && !nowInUtc.test(rest)) rest = rest.replace(casts, '')
  }
  return rest
}

/** Engines differ in what a backslash means. */
function readLiteral (text: string): string | undefined {
  if (text.includes('\\')) return undefined
  const [, quoted] = /^'((?:[^']|'')*)'$/s.exec(text) ?? []
  if (quoted !== undefined) return quoted.replaceAll("''", "'")
  return /^(?:[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?|true|false)$/i.test(text) ? text : undefined
}

const truths = new Map([['1', true], ['true', true], ['t', true], ['0', false], ['false', false], ['f', false]])

const finite = (text: string): number | undefined => text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined

/** What a literal is as the default of a kind; undefined if it cannot be one. */
const convert: Readonly<Partial<Record<StorageName, (literal: string) => Json | undefined>>> = {
  text: (literal) => literal,
  integer: finite,
  number: finite,
  bigint: (literal) => /^-?\d+$/.test(literal) ? String(BigInt(literal)) : undefined,
  decimal: (literal) => finite(literal) === undefined ? undefined : literal,
  boolean: (literal) => truths.get(literal.toLowerCase()),
  datetime,
  date: (literal) => datetime(literal)?.slice(0, 10),
  uuid: (literal) => literal.toLowerCase(),
  json: readJson
}

function readJson (literal: string): Json | undefined {
  try {
    return JSON.parse(literal) as Json
  } catch {
    return undefined
  }
}
