import { sql, type Expression } from 'kysely'
import { asIs, asJson, asNumber, decimalType, decodeDecimal, named, type Parameter, type Storage, type StorageTable, type Stored } from './storage.js'

const integers = ['int2', 'int4', 'int8'] as const
const asText = (column: Expression<unknown>) => sql`cast(${column} as text)`
const asItIs = (column: Expression<unknown>) => column
/** A moment may be infinite, lie before our era or have fractions of a second. */
const asWritten = (select: NonNullable<Storage['select']>) => ({ select, isWhole: (column: Expression<unknown>) => sql`${select(column)} = ${asText(column)}` })
/** A number beyond the column's own type is an error otherwise, not a row that does not match. */
const bigint = (value: Parameter) => sql`cast(${value} as bigint)`

/** Without it, a text that is not quite true or false must not pass for one: it may decide who is an admin. */
function decodeBoolean (stored: Stored): boolean {
  if (typeof stored === 'boolean') return stored
  throw new TypeError('The driver gives booleans as something else')
}

const written = /^\d{4,}-\d\d-\d\d( \d\d:\d\d:\d\d)?/
const plainLengths = ['2024-02-29'.length, '2024-02-29 23:59:59'.length]

/** A moment as `to_char` would write it, from the text that the server sends: without a fraction or an era, and null if it is infinite. */
function decodeWritten (stored: Stored): string | null {
  const text = String(stored)
  // Nothing else that a server writes is as long and has a hyphen there, whatever the style; an expression takes 2 % of a list.
  if (plainLengths.includes(text.length) && text[4] === '-') return text
  const [found] = written.exec(text) ?? []
  if (found !== undefined) return found
  if (text.endsWith('infinity')) return null
  throw new TypeError('The server writes dates in another style than ISO')
}

/** Dates and numbers with many digits are selected as text: what drivers make of them depends on their settings and the time zone. */
export const postgresStorage = {
  key: { type: () => 'bigint', holds: named(...integers), compared: bigint, ...asNumber },
  text: { type: () => 'text collate "C"', holds: named('text', 'varchar'), isCollated: true, ...asIs },
  integer: { type: () => 'integer', holds: named(...integers), compared: bigint, ...asNumber },
  bigint: { type: () => 'bigint', holds: named(...integers), select: asText, compared: bigint, ...asIs },
  number: {
    type: () => 'double precision',
    holds: named('float8', 'float4', 'numeric', ...integers),
    compared: (value) => sql`cast(${value} as double precision)`,
    isWhole: (column) => sql`${asText(column)} = ${asText(sql`cast(${column} as double precision)`)}`,
    ...asNumber
  },
  decimal: {
    type: decimalType('numeric'),
    holds: named('numeric', 'float8', ...integers),
    select: asText,
    compared: (value) => sql`cast(${value} as numeric)`,
    encode: asIs.encode,
    decode: decodeDecimal
  },
  boolean: { type: () => 'boolean', holds: named('bool'), encode: asIs.encode, decode: decodeBoolean },
  datetime: {
    type: () => 'timestamp(0)',
    holds: named('timestamp'),
    now: sql`date_trunc('second', now() at time zone 'utc')`,
    ...asWritten((column) => sql`to_char(${column}, 'YYYY-MM-DD HH24:MI:SS')`),
    ...asIs
  },
  date: {
    type: () => 'date',
    holds: named('date'),
    now: sql`(now() at time zone 'utc')::date`,
    ...asWritten((column) => sql`to_char(${column}, 'YYYY-MM-DD')`),
    ...asIs
  },
  json: { type: () => 'json', holds: named('json', 'jsonb', 'text', 'varchar'), select: asText, ...asJson },
  uuid: { type: () => 'uuid', holds: named('uuid', 'text', 'varchar'), ...asIs }
} as const satisfies StorageTable

/** Where the driver leaves dates as the server writes them, which halves its time for a list of a hundred records beside `to_char`. */
export const ownPostgresStorage = {
  ...postgresStorage,
  datetime: { ...postgresStorage.datetime, select: asItIs, decode: decodeWritten },
  date: { ...postgresStorage.date, select: asItIs, decode: decodeWritten }
} satisfies StorageTable
