import { sql } from 'kysely'
import { asBit, asIs, asJson, decimalType, decodeDecimal, type StorageTable, type Stored } from './storage.js'
import { datetime } from './values.js'

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

const plainDatetime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

/** Databases made elsewhere also hold `T` between date and time, fractions of a second and offsets. */
function decodeDatetime (stored: Stored): string {
  const text = String(stored)
  return plainDatetime.test(text) ? text : datetime(text) ?? text
}

const text = { type: () => 'text', holds: held('text', 'none'), isCollated: true, ...asIs } as const
const integer = { type: () => 'integer', holds: held('integer', 'numeric'), ...asIs }

export const sqliteStorage = {
  key: integer,
  text,
  integer,
  bigint: {
    type: () => 'bigint',
    holds: held('integer', 'numeric'),
    select: (column) => sql`cast(${column} as text)`,
    encode: (value) => BigInt(value as string),
    decode: asIs.decode
  },
  number: { type: () => 'real', holds: held('real', 'numeric', 'integer'), ...asIs },
  decimal: { type: decimalType('decimal'), holds: held('numeric', 'real', 'integer'), encode: Number, decode: decodeDecimal },
  boolean: { type: () => 'boolean', holds: held('numeric', 'integer'), check: (column) => sql`${column} in (0, 1)`, ...asBit },
  datetime: {
    type: () => 'datetime',
    holds: held('numeric', 'text'),
    now: sql`current_timestamp`,
    encode: asIs.encode,
    decode: decodeDatetime
  },
  date: { type: () => 'date', holds: held('numeric', 'text'), now: sql`current_date`, ...asIs },
  json: { type: () => 'text', holds: held('text', 'none'), ...asJson },
  uuid: text
} as const satisfies StorageTable
