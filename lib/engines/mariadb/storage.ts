import { sql } from 'kysely'
import { isYes } from '../catalog.js'
import { asSafeIntegers } from '../safe-integers.js'
import { asBit, asIs, asJson, named, type Storage, type StorageTable } from '../storage.js'
import { date, datetime } from './moments.js'
import { decimal, integers, number } from './numbers.js'
import { asText, exactCharset, text, textTypes, unparsed } from './texts.js'

const integer = asSafeIntegers({ type: () => 'integer', holds: named(...integers) })

/**
 * Storage of years. MariaDB reads the number 70 as the year 1970, even in a comparison, and with an index on the column
 * it compares 3000 as 0. So the numbers from 1 to 99, and those after 2155, are sent as numbers in the same place that
 * no row has, and that MariaDB refuses to store.
 */
const years: Storage = {
  ...integer,
  encode: (value) => Number(value) > 0 && Number(value) < 100 ? 100 : Math.min(Number(value), 2155.5)
}

const booleans = {
  type: () => 'boolean', holds: named('tinyint', 'bit'), check: (column) => sql`${column} in (0, 1)`, ...asBit
} as const satisfies Storage

/** Storage of booleans in columns of one bit, which the driver would return as bytes. */
const bits: Storage = { ...booleans, select: (column) => sql`${column} + 0` }

/**
 * Storage of values in MariaDB. Dates and numbers with many digits are selected as text, because the driver would
 * convert them by its settings and the time zone.
 */
export const mariadbStorage = {
  key: asSafeIntegers({ type: () => 'bigint', holds: named(...integers) }),
  text,
  integer: {
    ...integer,
    holds: named(...integers, 'year'),
    ofType: (column, options) => column.written.startsWith('year') ? years : integer.ofType?.(column, options)
  },
  bigint: {
    type: () => 'bigint',
    holds: named(...integers),
    // The sum has no leading zeros, which a column with `zerofill` has.
    select: (column) => asText(sql`${column} + 0`),
    ...asIs
  },
  number,
  decimal,
  boolean: { ...booleans, ofType: ({ written }) => written.startsWith('bit') ? bits : undefined },
  datetime,
  date,
  json: {
    type: () => `longtext ${exactCharset}`,
    holds: named(...textTypes),
    select: unparsed,
    ...asJson
  },
  uuid: {
    type: () => 'char(36) character set ascii collate ascii_bin', holds: named('char', 'varchar', 'uuid'), ...asIs
  }
} as const satisfies StorageTable

/**
 * Returns the storage of integers on connections whose `sql_mode` may lack NO_AUTO_VALUE_ON_ZERO. There, a column with
 * `auto_increment` gets the next number in place of 0.
 */
function withoutZero (storage: Storage): Storage {
  return {
    ...storage,
    ofType: (column, options) => {
      const fitting = storage.ofType?.(column, options)
      return isYes(column.generated) ? { ...storage, ...fitting, alters: (value) => Number(value) === 0 } : fitting
    }
  }
}

/** Storage for connections that openMariadb() did not open. */
export const foreignMariadbStorage = {
  ...mariadbStorage,
  key: withoutZero(mariadbStorage.key),
  integer: withoutZero(mariadbStorage.integer),
  bigint: withoutZero(mariadbStorage.bigint)
} satisfies StorageTable
