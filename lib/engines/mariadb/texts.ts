import { sql, type Expression } from 'kysely'
import { maxUniqueLength, type FieldOptions } from '../../values/field-options.js'
import { endsInBlank } from '../blanks.js'
import { asIs, named, type Storage, type WrittenColumn } from '../storage.js'
import { alteredBy, cutBy } from './altered-texts.js'
import { maxSortLength } from './node-state.js'

/** Types of columns for texts of variable length, which fields of the kinds text and json may use. */
export const textTypes = ['varchar', 'tinytext', 'text', 'mediumtext', 'longtext'] as const
/**
 * Types of columns whose values are texts of a certain form, such as times. MariaDB refuses a text of another form, or
 * stores a text of the right form in its place.
 */
const writtenTypes = ['enum', 'set', 'time', 'inet4', 'inet6'] as const
/** Collation that compares character by character, trailing spaces included; `utf8mb4_bin` ignores those. */
export const exactCollation = 'utf8mb4_nopad_bin'
/** Character set and collation of the columns that createTables() makes for texts and JSON. */
export const exactCharset = `character set utf8mb4 collate ${exactCollation}`
/**
 * Casts to a text of at most 80 characters, enough for the longest number. Otherwise MariaDB computes the length
 * itself. That length is too short for -0.1 in a column decimal(1,1), and a temporary table cuts the text to it.
 */
export const asText = (column: Expression<unknown>) => sql`cast(${column} as char(80))`

const anyText = {
  // Only unique columns are varchar, because all columns that are kept within the rows share 65,535 bytes.
  type: ({ maxLength = maxUniqueLength, unique = false }) =>
    `${unique ? `varchar(${maxLength})` : 'longtext'} ${exactCharset}`,
  holds: named('char', ...textTypes, ...writtenTypes),
  isCollated: true,
  ...asIs
} as const satisfies Storage

/**
 * Storage of texts in columns with the collation that createTables() gives them. It lacks `isCollated`, so SQL compares
 * and orders the column itself, and an index serves. No index serves the expression that `Dialect.exact` makes.
 */
const { isCollated: _isCollated, ...exactTexts } = anyText

/**
 * Number of characters at the beginning of a text that MariaDB certainly compares in an ordering. Each takes up to four
 * of the {@link maxSortLength} bytes. MariaDB compares one character less than fits into them: 255 with 1,024 bytes.
 */
const maxSortedLength = maxSortLength / 4 - 1

/** True if a column of this type may hold more than {@link maxSortedLength} characters. */
function isLong (written: string): boolean {
  const [type, length] = written.split(/\W/)
  return ['text', 'mediumtext', 'longtext', 'json'].includes(String(type)) ||
    (type === 'varchar' && Number(length) > maxSortedLength)
}

/**
 * Orders texts by their bytes in UTF-8, which is the order of their characters. MariaDB then compares up to
 * {@link maxSortLength} bytes of a text, one for each ASCII character. That is the whole text if it fits into a cursor,
 * because the default of `limits.queryLength` leaves room for less.
 */
const byBytes = {
  sorted: (column) => sql`cast(convert(${column} using utf8mb4) as binary)`
} as const satisfies Partial<Storage>

/** Selects JSON as an expression, because the driver parses columns that the server marks as JSON. */
export const unparsed = (column: Expression<unknown>) => sql`concat(${column}, '')`

/** Selects the labels of an enumeration or a set without a character set, which the driver would give as bytes. */
const labelTexts = { select: (column) => sql`convert(${column} using utf8mb4)` } as const satisfies Partial<Storage>

/**
 * Returns how a column of MariaDB stores and compares its texts, as {@link ofForm} says. If the column would cut a text
 * of the field, the storage refuses that text. Returns undefined for a column that needs no storage of its own.
 */
function textsOf (column: WrittenColumn, options: FieldOptions): Storage | undefined {
  const [storage, cut] = [ofForm(column), cutBy(column.written, options)]
  if (cut === undefined) return storage
  const whole: Storage = storage ?? anyText
  const { alters } = whole
  return alters === undefined
    ? { ...whole, ...cut }
    : { ...whole, alters: (value) => alters(value) || cut.alters(value) }
}

/**
 * Returns how a column of MariaDB stores and compares its texts if its type is an enumeration, a set, a time or an
 * address, if its texts may be longer than {@link maxSortedLength} characters, or if its collation is
 * {@link exactCollation}. Returns undefined for other columns.
 */
function ofForm ({ written, collation }: WrittenColumn): Storage | undefined {
  // MariaDB orders an enum or a set by number, and compares it as text.
  if (/^(?:enum|set)\b/.test(written)) {
    return { ...anyText, alters: alteredBy(written), ...collation === 'binary' && labelTexts }
  }
  const isExact = collation === exactCollation
  if (/^char\b/.test(written)) return { ...isExact ? exactTexts : anyText, alters: endsInBlank }
  if (isLong(written)) {
    return { ...isExact ? exactTexts : anyText, ...byBytes, ...written === 'json' && { select: unparsed } }
  }
  if (isExact) return exactTexts
  if (/^inet[46]$/.test(written)) return { ...anyText, respells: true }
  // Times are selected as text: the driver drops a fraction of zero if the statement was prepared.
  return written.startsWith('time') ? { ...anyText, select: asText, alters: alteredBy(written) } : undefined
}

/** Storage of texts in MariaDB. For some types and collations of columns, {@link textsOf} returns another one. */
export const text = { ...anyText, ofType: textsOf } as const satisfies Storage

/** Meanings of characters after a backslash in the texts of a default, in standard SQL. Others mean themselves. */
const escapes = new Map([["'", "''"], ['0', '\0'], ['n', '\n'], ['r', '\r'], ['Z', '\u001a']])

/**
 * Converts the texts in a default, as information_schema shows it, to standard SQL. MariaDB escapes backslashes and
 * some control characters in all of them, and quotes in those of long texts.
 */
export function toStandardTexts (declared: string): string {
  return declared.replaceAll(/\\([^])/g, (_, character: string) => escapes.get(character) ?? character)
}
