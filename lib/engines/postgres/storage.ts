import { sql, type Expression, type SqlBool } from 'kysely'
import { anyOf, cutFraction, exactMoment, inWholeSeconds } from '../moments.js'
import {
  asFinite, asIs, asJson, asNumber, decimalType, decodeDecimal, named,
  type Parameter, type ShownCondition, type Storage, type StorageTable, type Stored, type WrittenColumn
} from '../storage.js'

const integers = ['int2', 'int4', 'int8'] as const
const asText = (column: Expression<unknown>) => sql`cast(${column} as text)`
type Select = NonNullable<Storage['select']>
const asItIs = (column: Expression<unknown>) => column
/**
 * Returns a condition that is true if a date lies in the years 1 to 9999. Columns may also hold infinite, earlier and
 * later dates. The offset of the literals counts only if the column has a time zone.
 */
const isOfOurTime = (column: Expression<unknown>) =>
  sql<SqlBool>`${column} >= '0001-01-01 00:00:00+00' and ${column} < '10000-01-01 00:00:00+00'`
/** Selects a date as text, or null if it cannot be shown. */
const textOf = (format: string, moment: Select = asItIs): Select =>
  (column) => sql`case when ${isOfOurTime(column)} then to_char(${moment(column)}, ${sql.lit(format)}) end`
const asWritten = (format: string) => {
  const select = textOf(format)
  const isWhole = (column: Expression<unknown>) => sql`${select(column)} = ${asText(column)}`
  return { select, isShown: isOfOurTime, isWhole }
}
/**
 * Casts a parameter to bigint. Otherwise a number beyond the type of the column is an error, instead of a row that does
 * not match.
 */
const bigint = (value: Parameter) => sql`cast(${value} as bigint)`

/** Refuses everything but booleans. A text must not pass for true, because a boolean may decide who is an admin. */
function decodeBoolean (stored: Stored): boolean {
  if (typeof stored === 'boolean') return stored
  throw new TypeError('The driver returns booleans as another type')
}

/** Finds the date, or the date and time in whole seconds, in a text in the style ISO. */
const isoMoment = /^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?(?=$|\.)/
/** Matches a date that is infinite, before our era, or of a year with more than four digits. */
const notOfOurTime = /^-?infinity$| BC$|^\d{5,}-\d\d-\d\d/
/** Lengths of texts that are shown as they are. */
const plainLengths = ['2024-02-29'.length, '2024-02-29 23:59:59'.length]

/** Returns a date as it is shown, without a fraction, from the text of the server; null outside the years 1 to 9999. */
function decodeWritten (stored: Stored): string | null {
  const text = String(stored)
  // No other text of these lengths has a hyphen there, in any style. A regular expression takes 2 % of a list's time.
  if (plainLengths.includes(text.length) && text[4] === '-') return text
  if (notOfOurTime.test(text)) return null
  const [found] = isoMoment.exec(text) ?? []
  if (found !== undefined) return found
  throw new TypeError("The connection's DateStyle is not ISO")
}

const seconds = 'YYYY-MM-DD HH24:MI:SS'
const microseconds = `${seconds}.US`
const inUtc = (moment: Expression<unknown>) => sql`${moment} at time zone 'UTC'`
const isWithoutZone = (written: string) => written.endsWith(' without time zone')
const utcOf = (written: string) => isWithoutZone(written) ? asItIs : inUtc

/**
 * Returns the storage of a column of moments with a time zone or fractions of a second, which createTables() does not
 * make. Returns undefined for a column of whole seconds without a time zone.
 */
function momentsOf (
  written: string, { select, decode }: Required<Pick<Storage, 'select' | 'decode'>>
): Storage | undefined {
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

/**
 * Returns a condition that is true if a number fits into a double, as those of JSON do. Casting a larger one to a
 * double would be an error.
 */
const isFinite = (column: Expression<unknown>) =>
  sql<SqlBool>`abs(cast(${column} as numeric)) <= 1.7976931348623157e308`

/**
 * Returns a condition that is true if a number is not 0, but a double cannot tell it from 0. Casting it to a double
 * would be an error, too.
 */
const isTiny = (column: Expression<unknown>) =>
  sql<SqlBool>`(${column} <> 0 and abs(cast(${column} as numeric)) < 4.9e-324)`

const double = (value: Parameter) => sql`cast(${value} as double precision)`
/** Largest double; a larger number cannot be shown. */
const maxDouble = sql`1.7976931348623157e308::numeric`
const symbols = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const

/**
 * Returns conditions that compare a numeric column by the numbers that records show. A number that cannot be shown is
 * beyond all others, as in the order of the engine.
 */
const asDouble: ShownCondition = (column, operator, values) => {
  const infinite = sql`when ${column} > ${maxDouble} then 'Infinity' when ${column} < -${maxDouble} then '-Infinity'`
  const shown = sql`case ${infinite} when ${isTiny(column)} then 0 else cast(${column} as double precision) end`
  if (operator === 'eq' || operator === 'in') return sql<SqlBool>`${shown} in (${sql.join(values.map(double))})`
  if (operator === 'ne') return sql<SqlBool>`${shown} not in (${sql.join(values.map(double))})`
  return anyOf(values.map((value) => sql<SqlBool>`${shown} ${symbols[operator]} ${double(value)}`))
}

/**
 * Returns the storage of numbers in a numeric column, which may be larger and have more digits than those of JSON;
 * undefined for a column of another type. Cursors hold only numbers that records show in full, so they compare stored
 * numbers as they are.
 */
function numbersOf ({ written }: WrittenColumn): Storage | undefined {
  if (!written.startsWith('numeric')) return undefined
  return { ...postgresStorage.number, shown: asDouble, compared: postgresStorage.decimal.compared }
}

/**
 * Storage of each kind of value. Dates and numbers with many digits are selected as text, because what drivers make of
 * them depends on their settings and the time zone.
 */
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
    isWhole: (column) => {
      const isEqual = sql`${asText(column)} = ${asText(sql`cast(${column} as double precision)`)}`
      return sql`case when ${isFinite(column)} and not ${isTiny(column)} then ${isEqual} else false end`
    },
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

/**
 * Storage for connections of openPostgres(), on which the driver leaves dates as the server writes them. That halves
 * the driver's time for a list of a hundred records, compared with `to_char`.
 */
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
