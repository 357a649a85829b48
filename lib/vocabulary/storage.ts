import { sql, type Expression } from 'kysely'
import type { FieldOptions } from './field-options.js'
import { datetime, type Json } from './values.js'

/** What is handed to a driver: nothing else, since drivers give objects and arrays meanings of their own. */
export type Stored = string | number | bigint | null

/** How a kind of field is kept in one engine. */
export interface Storage {
  /** Column type in `create table`. */
  type (options: FieldOptions): string
  /** Whether an existing column of this declared type holds such values. */
  holds (declaredType: string): boolean
  /** The present, as a default in `create table`. */
  readonly now?: Expression<unknown>
  /** What must hold of a value in the column, beyond its type. */
  readonly check?: (column: Expression<unknown>) => Expression<unknown>
  /** Expression to select, if the driver would not give the column's value exactly. */
  readonly select?: (column: Expression<unknown>) => Expression<unknown>
  encode (value: Json): Stored
  decode (stored: Stored, options: FieldOptions): Json
}

/** A column's affinity decides what SQLite makes of a value: https://www.sqlite.org/datatype3.html, section 3.1. */
function affinity (declaredType: string): 'integer' | 'text' | 'none' | 'blob' | 'real' | 'numeric' {
  const type = declaredType.toLowerCase()
  if (type.includes('int')) return 'integer'
  if (/char|clob|text/.test(type)) return 'text'
  if (type === '') return 'none'
  if (type.includes('blob')) return 'blob'
  return /real|floa|doub/.test(type) ? 'real' : 'numeric'
}

const held = (...affinities: Array<ReturnType<typeof affinity>>) =>
  (declaredType: string) => affinities.includes(affinity(declaredType))

const asIs = { encode: (value: Json) => value as Stored, decode: (stored: Stored) => stored as Json }

/** Anything else must not pass for true: it may decide who is an admin. */
function decodeBoolean (stored: Stored): boolean {
  if (stored === 1 || stored === 0) return stored === 1
  throw new TypeError('A boolean column holds something else than 0 and 1')
}

const plainDatetime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

/** Databases made elsewhere also hold `T` between date and time, fractions of a second and offsets. */
function decodeDatetime (stored: Stored): string {
  const text = String(stored)
  return plainDatetime.test(text) ? text : datetime(text) ?? text
}

export const sqliteStorage = {
  text: { type: () => 'text', holds: held('text', 'none'), ...asIs },
  integer: { type: () => 'integer', holds: held('integer', 'numeric'), ...asIs },
  bigint: {
    type: () => 'bigint',
    holds: held('integer', 'numeric'),
    select: (column) => sql`cast(${column} as text)`,
    encode: (value) => BigInt(value as string),
    decode: (stored) => stored as string
  },
  number: { type: () => 'real', holds: held('real', 'numeric', 'integer'), ...asIs },
  decimal: {
    type: ({ precision = 15, scale = 2 }) => `decimal(${precision}, ${scale})`,
    holds: held('numeric', 'real', 'integer'),
    encode: Number,
    decode: (stored, { scale = 2 }) => Number(stored).toFixed(scale)
  },
  boolean: {
    type: () => 'boolean',
    holds: held('numeric', 'integer'),
    check: (column) => sql`${column} in (0, 1)`,
    encode: Number,
    decode: decodeBoolean
  },
  datetime: {
    type: () => 'datetime',
    holds: held('numeric', 'text'),
    now: sql`current_timestamp`,
    encode: asIs.encode,
    decode: decodeDatetime
  },
  date: { type: () => 'date', holds: held('numeric', 'text'), now: sql`current_date`, ...asIs },
  json: {
    type: () => 'text',
    holds: held('text', 'none'),
    encode: (value) => JSON.stringify(value),
    decode: (stored) => JSON.parse(String(stored)) as Json
  }
} as const satisfies Record<string, Storage>
