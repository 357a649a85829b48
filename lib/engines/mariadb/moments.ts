import { sql, type Expression, type SqlBool } from 'kysely'
import { isYes } from '../catalog.js'
import { cutFraction, exactMoment, inWholeSeconds } from '../moments.js'
import { asIs, named, type Storage, type WrittenColumn } from '../storage.js'

/**
 * Returns a condition that is true if a date exists in the calendar. Columns may also hold dates whose year, month or
 * day is zero, or the 30th of February. MariaDB computes null from such a date.
 */
const isOfCalendar = (column: Expression<unknown>) => sql<SqlBool>`(${column} + interval 0 day) is not null`
/**
 * Returns a function that makes SQL to select a date, or a date and time, as text. The SQL gives null for a date that
 * is not in the calendar.
 */
const textOf = (format: string): NonNullable<Storage['select']> => (column) =>
  sql`case when ${isOfCalendar(column)} then date_format(${column}, ${sql.lit(format)}) end`
const asCalendar = {
  isShown: isOfCalendar,
  isWhole: isOfCalendar,
  // On a column declared 'not null', MariaDB takes 'is null' for a search for zero dates.
  isNull: (column) => sql<SqlBool>`${column} <=> null`
} as const satisfies Partial<Storage>

const moments = {
  type: () => 'datetime',
  holds: named('datetime', 'timestamp'),
  now: sql`(utc_timestamp())`,
  select: textOf('%Y-%m-%d %H:%i:%s'),
  ...asCalendar,
  ...asIs
} as const satisfies Storage

/**
 * Storage of dates and times in columns with fractions of a second, such as `datetime(6)`. createTables() makes no such
 * columns, but an existing table may have them. Records show whole seconds.
 */
const fractionalMoments: Storage = {
  ...moments,
  select: textOf('%Y-%m-%d %H:%i:%s.%f'),
  decode: cutFraction,
  shown: inWholeSeconds({
    first: (value) => sql`${value}`,
    last: (value) => sql`cast(concat(${value}, '.999999') as datetime(6))`
  }),
  exact: exactMoment('')
}

/**
 * Returns the storage of a column with fractions of a second, or of a `timestamp` that is not null; undefined for other
 * columns. Such a `timestamp` has the current moment in place of a null that is written.
 */
function momentsOf ({ written, nullable }: WrittenColumn): Storage | undefined {
  const fractional = written.includes('(') ? fractionalMoments : undefined
  const replacesNull = written.startsWith('timestamp') && !isYes(nullable)
  return replacesNull ? { ...(fractional ?? datetime), replacesNull } : fractional
}

/** Storage of dates and times. They are selected as text, because the driver would convert them by the time zone. */
export const datetime = {
  ...moments,
  isWhole: (column) => sql`(microsecond(${column}) = 0 and ${isOfCalendar(column)})`,
  ofType: momentsOf
} as const satisfies Storage

/** Storage of dates, selected as text. */
export const date = {
  type: () => 'date',
  holds: named('date'),
  now: sql`(utc_date())`,
  select: textOf('%Y-%m-%d'),
  ...asCalendar,
  ...asIs
} as const satisfies Storage
