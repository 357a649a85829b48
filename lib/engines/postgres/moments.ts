import { sql, type Expression, type SqlBool } from 'kysely'
import { cutFraction, exactMoment, inWholeSeconds } from '../moments.js'
import { asIs, named, type Parameter, type Storage, type Stored, type WrittenColumn } from '../storage.js'
import { asText } from './texts.js'

type Select = NonNullable<Storage['select']>
const asItIs = (column: Expression<unknown>) => column
/**
 * Returns a condition that is true if a date, or date and time, lies in the years 1 to 9999. Columns may also hold
 * infinite, earlier and later ones. The limits are written with the offset of UTC, which PostgreSQL ignores if the
 * column has no time zone.
 */
const isOfOurTime = (column: Expression<unknown>) =>
  sql<SqlBool>`${column} >= '0001-01-01 00:00:00+00' and ${column} < '10000-01-01 00:00:00+00'`
/** Returns a function that makes SQL to select a date, or date and time, as text; null outside the years 1 to 9999. */
const textOf = (format: string, moment: Select = asItIs): Select =>
  (column) => sql`case when ${isOfOurTime(column)} then to_char(${moment(column)}, ${sql.lit(format)}) end`
const asWritten = (format: string) => {
  const select = textOf(format)
  const isWhole = (column: Expression<unknown>) => sql`${select(column)} = ${asText(column)}`
  return { select, isShown: isOfOurTime, isWhole }
}

/** Finds the date, or the date and time in whole seconds, in a text that the server wrote in the DateStyle ISO. */
const isoMoment = /^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?(?=$|\.)/
/** Matches a date that is infinite, before our era, or of a year with more than four digits. */
const notOfOurTime = /^-?infinity$| BC$|^\d{5,}-\d\d-\d\d/
/** Lengths of the texts of a date, and of a date and time in whole seconds, which records show as they are. */
const plainLengths = ['2024-02-29'.length, '2024-02-29 23:59:59'.length]

/**
 * Returns what records show of a date, or date and time, from the server's text: the text without a fraction, or null
 * outside the years 1 to 9999. Throws if the text is not in the DateStyle ISO.
 */
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

/** Storage of dates and times in whole seconds without a time zone, selected as text. */
const plainDatetime = {
  type: () => 'timestamp(0)',
  holds: named('timestamp', 'timestamptz'),
  now: sql`date_trunc('second', now() at time zone 'utc')`,
  ...asWritten(seconds),
  ...asIs
} satisfies Storage

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
    ...plainDatetime,
    select,
    isWhole: isOfOurTime,
    decode,
    encode: (value) => `${String(value)}${offset}`,
    shown: inWholeSeconds({ first, last: (value) => sql`${first(value)} + interval '0.999999 seconds'` }),
    exact: exactMoment(offset)
  }
}

/** Storage of dates and times. They are selected as text, because a driver's dates depend on its settings. */
export const datetime = {
  ...plainDatetime,
  ofType: ({ written }: WrittenColumn) =>
    momentsOf(written, { select: textOf(microseconds, utcOf(written)), decode: cutFraction })
} satisfies Storage

/** Storage of dates, selected as text. */
export const date = {
  type: () => 'date',
  holds: named('date'),
  now: sql`(now() at time zone 'utc')::date`,
  ...asWritten('YYYY-MM-DD'),
  ...asIs
} satisfies Storage

/**
 * Storage of dates and times on connections of openPostgres(), whose driver leaves them as the server writes them. They
 * are selected without `to_char`, which halves the driver's time for a list of a hundred records.
 */
export const ownDatetime = {
  ...plainDatetime,
  select: asItIs,
  decode: decodeWritten,
  ofType: ({ written }: WrittenColumn) => momentsOf(written, { select: utcOf(written), decode: decodeWritten })
} satisfies Storage

/** Storage of dates on the same connections as {@link ownDatetime}. */
export const ownDate = { ...date, select: asItIs, decode: decodeWritten } satisfies Storage
