import { sql, type Expression, type SqlBool } from 'kysely'
import { maxUniqueLength, type FieldOptions } from '../../values/field-options.js'
import { inDecimals, inDoubles } from '../decimals.js'
import { cutFraction, exactMoment, inWholeSeconds } from '../moments.js'
import { asSingle } from '../single.js'
import {
  asBit, asIs, asJson, asNumber, decimalType, decodeDecimal, named,
  type Parameter, type Storage, type StorageTable, type WrittenColumn
} from '../storage.js'
import { maxSortLength } from './node-state.js'
import { alteredBy } from './texts.js'

const integers = ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'] as const
const texts = ['varchar', 'tinytext', 'text', 'mediumtext', 'longtext'] as const
/** Types of values that are texts of a certain form. MariaDB refuses other texts. */
const writtenTypes = ['enum', 'set', 'time', 'inet4', 'inet6'] as const
/** Collation that compares character by character, trailing spaces included; `utf8mb4_bin` ignores those. */
export const exactCollation = 'utf8mb4_nopad_bin'
const exact = `character set utf8mb4 collate ${exactCollation}`
/**
 * Casts to a text with room for the longest number. Without the length of 80, MariaDB computes one that is too short
 * for -0.1 as decimal(1,1), and a temporary table cuts texts to that length.
 */
const asText = (column: Expression<unknown>) => sql`cast(${column} as char(80))`

const asDouble = (value: Parameter | Expression<unknown>) => sql`cast(${value} as double)`
/** Selects all digits of a floating-point number. The text of a column `double(12,4)` itself would have four. */
const inFull = (column: Expression<unknown>) => asText(asDouble(column))

const text = {
  // Only unique columns are varchar, because all columns that are kept within the rows share 65,535 bytes.
  type: ({ maxLength = maxUniqueLength, unique = false }) =>
    `${unique ? `varchar(${maxLength})` : 'longtext'} ${exact}`,
  holds: named('char', ...texts, ...writtenTypes),
  isCollated: true,
  ...asIs
} as const satisfies Storage

/**
 * Storage of texts in columns with the collation that createTables() gives them. It lacks `isCollated`, so SQL compares
 * and orders the column itself, and an index serves. No index serves the expression that `Dialect.exact` makes.
 */
const { isCollated: _isCollated, ...exactTexts } = text

/** Characters whose sort keys `max_sort_length` holds: each character has up to four bytes. */
const maxSortedLength = maxSortLength / 4 - 1

/** True if a column of this type may hold more than {@link maxSortedLength} characters. */
function isLong (written: string): boolean {
  const [type, length] = written.split(/\W/)
  return ['text', 'mediumtext', 'longtext'].includes(String(type)) ||
    (type === 'varchar' && Number(length) > maxSortedLength)
}

/**
 * Orders texts by their bytes in UTF-8, which is the order of their characters. A sort key then has one byte for each
 * ASCII character, so that it holds every text that fits into a cursor.
 */
const byBytes = {
  sorted: (column) => sql`cast(convert(${column} using utf8mb4) as binary)`
} as const satisfies Partial<Storage>

/**
 * Returns the storage of a column of enumerations, sets or times, of long texts, or of texts whose collation is exact;
 * otherwise undefined.
 */
function textsOf ({ written, collation }: WrittenColumn): Storage | undefined {
  // MariaDB orders an enum or a set by number, and compares it as text.
  if (/^(?:enum|set)\b/.test(written)) return { ...text, alters: alteredBy(written) }
  const isExact = collation === exactCollation
  if (isLong(written)) return { ...isExact ? exactTexts : text, ...byBytes }
  if (isExact) return exactTexts
  // Times are selected as text: the driver drops a fraction of zero if the statement was prepared.
  return written.startsWith('time') ? { ...text, select: asText, alters: alteredBy(written) } : undefined
}

/**
 * Returns a condition that is true if a date is one of the calendar. Columns may also hold dates whose year, month or
 * day is zero, or the 30th of February. MariaDB computes null from such a date.
 */
const isOfCalendar = (column: Expression<unknown>) => sql<SqlBool>`(${column} + interval 0 day) is not null`
/** Returns a function that makes SQL to select a date, or date and time, as text; null if it is not of the calendar. */
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

/** Storage of moments with fractions of a second, in columns that createTables() does not make. */
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

const integer = { type: () => 'integer', holds: named(...integers), ...asNumber } as const satisfies Storage

/**
 * Storage of years. MariaDB takes 70 for 1970, even in a comparison. So 1 to 99 are sent as -1, which no row has, and
 * which MariaDB refuses to store.
 */
const years: Storage = {
  ...integer, encode: (value) => Number(value) > 0 && Number(value) < 100 ? -1 : Number(value)
}

const booleans = {
  type: () => 'boolean', holds: named('tinyint', 'bit'), check: (column) => sql`${column} in (0, 1)`, ...asBit
} as const satisfies Storage

/** Storage of booleans in columns of one bit, which the driver would return as bytes. */
const bits: Storage = { ...booleans, select: (column) => sql`${column} + 0` }

/**
 * Returns the storage of floating-point numbers of 32 bits; undefined for columns of other types. The numbers are
 * selected as doubles, because the server would round them to six digits in a text.
 */
function numbersOf ({ written }: WrittenColumn): Storage | undefined {
  if (!written.startsWith('float')) return undefined
  const { isWhole, ...others } = mariadbStorage.number
  return { ...others, select: asDouble, ...asSingle }
}

/** Returns the storage of decimals in a column that may hold more digits than records show; otherwise undefined. */
function decimalsOf ({ written }: WrittenColumn, options: FieldOptions): Storage | undefined {
  const { decimal } = mariadbStorage
  if (written.startsWith('double')) return { ...decimal, select: inFull, ...inDoubles(asDouble) }
  if (!written.startsWith('decimal')) return undefined
  // MariaDB compares a decimal with a text by floating-point numbers, which have too few digits.
  const further = inDecimals(written, options, (value, digits) =>
    sql`cast(${value} as decimal(65, ${sql.lit(digits)}))`)
  return further && { ...decimal, ...further }
}

/**
 * Storage of values in MariaDB. Dates and numbers with many digits are selected as text, because the driver would
 * convert them by its settings and the time zone.
 */
export const mariadbStorage = {
  key: { type: () => 'bigint', holds: named(...integers), ...asNumber },
  text: { ...text, ofType: textsOf },
  integer: {
    ...integer,
    holds: named(...integers, 'year'),
    ofType: ({ written }) => written.startsWith('year') ? years : undefined
  },
  bigint: {
    type: () => 'bigint',
    holds: named(...integers),
    // The sum has no leading zeros, which a column with `zerofill` has.
    select: (column) => asText(sql`${column} + 0`),
    ...asIs
  },
  number: {
    type: () => 'double',
    holds: named('double', 'float', 'decimal', ...integers),
    isWhole: (column) => sql`${asText(column)} = ${inFull(column)}`,
    ofType: numbersOf,
    ...asNumber
  },
  decimal: {
    type: decimalType('decimal'),
    holds: named('decimal', 'double', ...integers),
    select: asText,
    ofType: decimalsOf,
    decode: decodeDecimal
  },
  boolean: { ...booleans, ofType: ({ written }) => written.startsWith('bit') ? bits : undefined },
  datetime: {
    ...moments,
    isWhole: (column) => sql`(microsecond(${column}) = 0 and ${isOfCalendar(column)})`,
    ofType: ({ written }) => written.includes('(') ? fractionalMoments : undefined
  },
  date: {
    type: () => 'date',
    holds: named('date'),
    now: sql`(utc_date())`,
    select: textOf('%Y-%m-%d'),
    ...asCalendar,
    ...asIs
  },
  json: {
    type: () => `longtext ${exact}`,
    holds: named(...texts),
    // An expression, because the driver parses columns that the server marks as JSON.
    select: (column) => sql`concat(${column}, '')`,
    ...asJson
  },
  uuid: {
    type: () => 'char(36) character set ascii collate ascii_bin', holds: named('char', 'varchar', 'uuid'), ...asIs
  }
} as const satisfies StorageTable
