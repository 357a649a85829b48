import { sql, type Expression, type SqlBool } from 'kysely'
import { anyOf, cutFraction, exactMoment, inWholeSeconds } from '../moments.js'
import { asFinite, asIs, asJson, asNumber, decimalType, decodeDecimal, named, type Parameter, type ShownCondition, type Storage, type StorageTable, type Stored, type WrittenColumn } from '../storage.js'

const integers = ['int2', 'int4', 'int8'] as const
const asText = (column: Expression<unknown>) => sql`cast(${column} as text)`
type Select = NonNullable<Storage['select']>
const asItIs = (column: Expression<unknown>) => column
/** A date may be infinite, lie before our era, or after the year 9999. The offset of a literal counts where the column minds time zones. */
const isOfOurTime = (column: Expression<unknown>) => sql<SqlBool>`${column} >= '0001-01-01 00:00:00+00' and ${column} < '10000-01-01 00:00:00+00'`
/** The text of a date, and null if it cannot be shown. */
const textOf = (format: string, moment: Select = asItIs): Select =>
  (column) => sql`case when ${isOfOurTime(column)} then to_char(${moment(column)}, ${sql.lit(format)}) end`
const asWritten = (format: string) => {
  const select = textOf(format)
  return { select, isShown: isOfOurTime, isWhole: (column: Expression<unknown>) => sql`${select(column)} = ${asText(column)}` }
}
/** A number beyond the column's own type is an error otherwise, not a row that does not match. */
const bigint = (value: Parameter) => sql`cast(${value} as bigint)`

/** Without it, a text that is not quite true or false must not pass for one: it may decide who is an admin. */
function decodeBoolean (stored: Stored): boolean {
  if (typeof stored === 'boolean') return stored
  throw new TypeError('The driver gives booleans as something else')
}

const written = /^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?(?=$|\.)/
/** Infinite, before our era, or of a year with more than four digits. */
const notOfOurTime = /^-?infinity$| BC$|^\d{5,}-\d\d-\d\d/
const plainLengths = ['2024-02-29'.length, '2024-02-29 23:59:59'.length]

/** A date as it is shown, from the text that the server sends: without a fraction, and null if it is not of our time. */
function decodeWritten (stored: Stored): string | null {
  const text = String(stored)
  // Nothing else that a server writes is as long and has a hyphen there, whatever the style; an expression takes 2 % of a list.
  if (plainLengths.includes(text.length) && text[4] === '-') return text
  if (notOfOurTime.test(text)) return null
  const [found] = written.exec(text) ?? []
  if (found !== undefined) return found
  throw new TypeError('The server writes dates in another style than ISO')
}

const seconds = 'YYYY-MM-DD HH24:MI:SS'
const microseconds = `${seconds}.US`
const inUtc = (moment: Expression<unknown>) => sql`${moment} at time zone 'UTC'`
const isWithoutZone = (written: string) => written.endsWith(' without time zone')
const utcOf = (written: string) => isWithoutZone(written) ? asItIs : inUtc

/** The columns of moments that createTables() does not make: with a time zone, with fractions of a second, with both. */
function momentsOf (written: string, { select, decode }: Required<Pick<Storage, 'select' | 'decode'>>): Storage | undefined {
  if (written === 'timestamp(0) without time zone') return undefined
  const isZoned = !isWithoutZone(written)
  const offset = isZoned ? '+00' : ''
  const first = (value: Parameter) => isZoned ? sql`cast(${value} as timestamptz)` : sql`cast(${value} as timestamp)`
  return {
    ...postgresStorage.datetime,
    select,
    isWhole: isOfOurTime,
    decode,
    encode: (value) => `${String(value)}${offset}`,
    shown: inWholeSeconds({ first, last: (value) => sql`${first(value)} + interval '0.999999 seconds'` }),
    exact: exactMoment(offset)
  }
}

/** Whether a number is one of JSON; to make a floating-point number of what is none would be an error. */
const isFinite = (column: Expression<unknown>) => sql<SqlBool>`abs(cast(${column} as numeric)) <= 1.7976931348623157e308`

/** Whether a number is too small to be told from 0, which to make a floating-point number of would be an error, too. */
const isTiny = (column: Expression<unknown>) => sql<SqlBool>`(${column} <> 0 and abs(cast(${column} as numeric)) < 4.9e-324)`

const double = (value: Parameter) => sql`cast(${value} as double precision)`
const beyond = sql`1.7976931348623157e308::numeric`
const symbols = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const

/** Compares a numeric column by the numbers that records show; what none can show is beyond all others, as the engine has it. */
const asDouble: ShownCondition = (column, operator, values) => {
  const shown = sql`case when ${column} > ${beyond} then 'Infinity' when ${column} < -${beyond} then '-Infinity' when ${isTiny(column)} then 0 else cast(${column} as double precision) end`
  if (operator === 'eq' || operator === 'in') return sql<SqlBool>`${shown} in (${sql.join(values.map(double))})`
  if (operator === 'ne') return sql<SqlBool>`${shown} not in (${sql.join(values.map(double))})`
  return anyOf(values.map((value) => sql<SqlBool>`${shown} ${symbols[operator]} ${double(value)}`))
}

/** Numbers in a numeric column, which has more of them, in more digits: cursors, which hold none that are not told in full, compare them as they are. */
function numbersOf ({ written }: WrittenColumn): Storage | undefined {
  if (!written.startsWith('numeric')) return undefined
  return { ...postgresStorage.number, shown: asDouble, compared: postgresStorage.decimal.compared }
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
    compared: double,
    ofType: numbersOf,
    isShown: isFinite,
    isWhole: (column) => sql`case when ${isFinite(column)} and not ${isTiny(column)} then ${asText(column)} = ${asText(sql`cast(${column} as double precision)`)} else false end`,
    ...asFinite
  },
  decimal: {
    type: decimalType('numeric'),
    holds: named('numeric', 'float8', ...integers),
    select: asText,
    compared: (value) => sql`cast(${value} as numeric)`,
    isShown: isFinite,
    encode: asIs.encode,
    decode: decodeDecimal
  },
  boolean: { type: () => 'boolean', holds: named('bool'), encode: asIs.encode, decode: decodeBoolean },
  datetime: {
    type: () => 'timestamp(0)',
    holds: named('timestamp', 'timestamptz'),
    now: sql`date_trunc('second', now() at time zone 'utc')`,
    ...asWritten(seconds),
    ofType: ({ written }: WrittenColumn) =>
      momentsOf(written, { select: textOf(microseconds, utcOf(written)), decode: cutFraction }),
    ...asIs
  },
  date: {
    type: () => 'date',
    holds: named('date'),
    now: sql`(now() at time zone 'utc')::date`,
    ...asWritten('YYYY-MM-DD'),
    ...asIs
  },
  json: { type: () => 'json', holds: named('json', 'jsonb', 'text', 'varchar'), select: asText, ...asJson },
  uuid: { type: () => 'uuid', holds: named('uuid', 'text', 'varchar'), ...asIs }
} as const satisfies StorageTable

/** Where the driver leaves dates as the server writes them, which halves its time for a list of a hundred records beside `to_char`. */
export const ownPostgresStorage = {
  ...postgresStorage,
  datetime: {
    ...postgresStorage.datetime,
    select: asItIs,
    decode: decodeWritten,
    ofType: ({ written }: WrittenColumn) => momentsOf(written, { select: utcOf(written), decode: decodeWritten })
  },
  date: { ...postgresStorage.date, select: asItIs, decode: decodeWritten }
} satisfies StorageTable
