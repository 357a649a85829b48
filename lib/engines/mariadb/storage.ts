import { sql, type Expression } from 'kysely'
import { maxUniqueLength } from '../../values/field-options.js'
import { cutFraction, exactMoment, inWholeSeconds } from '../moments.js'
import { asSingle } from '../single.js'
import {
  asBit, asIs, asJson, asNumber, decimalType, decodeDecimal, named, type Storage, type StorageTable, type WrittenColumn
} from '../storage.js'

const integers = ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'] as const
const texts = ['varchar', 'tinytext', 'text', 'mediumtext', 'longtext'] as const
/** Types of values that are texts of a certain form. MariaDB refuses others. */
const writtenTypes = ['enum', 'set', 'time', 'inet4', 'inet6'] as const
/** Collation that compares character by character, trailing spaces included; `utf8mb4_bin` ignores those. */
const exact = 'character set utf8mb4 collate utf8mb4_nopad_bin'
/**
 * Casts to a text with room for the longest number. The length that MariaDB computes is too short for -0.1 as
 * decimal(1,1), and texts that it puts into a temporary table are cut.
 */
const asText = (column: Expression<unknown>) => sql`cast(${column} as char(80))`

const text = {
  // Only unique columns are varchar, because all columns that are kept within the rows share 65,535 bytes.
  type: ({ maxLength = maxUniqueLength, unique = false }) =>
    `${unique ? `varchar(${maxLength})` : 'longtext'} ${exact}`,
  holds: named('char', ...texts, ...writtenTypes),
  isCollated: true,
  ...asIs
} as const satisfies Storage

/** Columns of times. The driver drops a fraction of zero if the statement was prepared. */
const times: Storage = { ...text, select: asText }

const moments = {
  type: () => 'datetime',
  holds: named('datetime', 'timestamp'),
  now: sql`(utc_timestamp())`,
  select: (column) => sql`date_format(${column}, '%Y-%m-%d %H:%i:%s')`,
  ...asIs
} as const satisfies Storage

/** Columns of moments with fractions of a second, which createTables() does not make. */
const fractionalMoments: Storage = {
  ...moments,
  select: (column) => sql`date_format(${column}, '%Y-%m-%d %H:%i:%s.%f')`,
  decode: cutFraction,
  shown: inWholeSeconds({
    first: (value) => sql`${value}`,
    last: (value) => sql`cast(concat(${value}, '.999999') as datetime(6))`
  }),
  exact: exactMoment('')
}

const integer = { type: () => 'integer', holds: named(...integers), ...asNumber } as const satisfies Storage

/** Columns of years. MariaDB takes 70 for 1970, also when it compares. Nothing is -1 there. */
const years: Storage = {
  ...integer, encode: (value) => Number(value) > 0 && Number(value) < 100 ? -1 : asNumber.encode(value)
}

const booleans = {
  type: () => 'boolean', holds: named('tinyint', 'bit'), check: (column) => sql`${column} in (0, 1)`, ...asBit
} as const satisfies Storage

/** Columns of one bit, which the driver would return as bytes. */
const bits: Storage = { ...booleans, select: (column) => sql`${column} + 0` }

/** Returns the storage of numbers of 32 bits, which the server would round to six digits in a text. */
function numbersOf ({ written }: WrittenColumn): Storage | undefined {
  if (!written.startsWith('float')) return undefined
  const { isWhole, ...others } = mariadbStorage.number
  return { ...others, select: (column) => sql`cast(${column} as double)`, ...asSingle }
}

/**
 * Storage of values in MariaDB. Dates and numbers with many digits are selected as text, because the driver converts
 * them by its settings and the time zone.
 */
export const mariadbStorage = {
  key: { type: () => 'bigint', holds: named(...integers), ...asNumber },
  text: { ...text, ofType: ({ written }) => written.startsWith('time') ? times : undefined },
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
    isWhole: (column) => sql`${asText(column)} = ${asText(sql`cast(${column} as double)`)}`,
    ofType: numbersOf,
    ...asNumber
  },
  decimal: {
    type: decimalType('decimal'),
    holds: named('decimal', 'double', ...integers),
    select: asText,
    encode: asIs.encode,
    decode: decodeDecimal
  },
  boolean: { ...booleans, ofType: ({ written }) => written.startsWith('bit') ? bits : undefined },
  datetime: {
    ...moments,
    isWhole: (column) => sql`microsecond(${column}) = 0`,
    ofType: ({ written }) => written.includes('(') ? fractionalMoments : undefined
  },
  date: {
    type: () => 'date',
    holds: named('date'),
    now: sql`(utc_date())`,
    select: (column) => sql`date_format(${column}, '%Y-%m-%d')`,
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
