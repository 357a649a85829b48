import { sql, type Expression, type RawBuilder } from 'kysely'
import type { FieldOptions } from '../../values/field-options.js'
import { anyOf } from '../any-of.js'
import { cutTo, endsInBlank } from '../blanks.js'
import { readType } from '../described-types.js'
import type { Parameter, ShownCondition, Storage, WrittenColumn } from '../storage.js'

/** Casts to a text. */
export const asText = (column: Expression<unknown>) => sql`cast(${column} as text)`
/**
 * Returns SQL of a text in the collation "C". It compares bytes, and changes the case of ASCII letters only. Some other
 * collations do not permit patterns. The cast is for enumerations, which can have no collation; it changes no text.
 */
export const byBytes = (text: Expression<unknown>) => sql`${asText(text)} collate "C"`
/** Operators of SQL by their names in filters. */
export const symbols = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const

/** Types whose values PostgreSQL can compare with any text, so that a plain `=` works and an index serves. */
const comparableTypes = new Set(['bpchar', 'citext', 'name'])

/** Types whose values are no texts, but are shown as texts by records: times of day and network addresses. */
const writtenTypes = ['time', 'timetz', 'inet', 'cidr', 'macaddr', 'macaddr8'] as const

/** Types of columns that a text field can read and write. */
export const textTypes = ['text', 'varchar', ...comparableTypes, 'enum', ...writtenTypes] as const

type IsSought = (column: RawBuilder<unknown>, values: readonly Parameter[]) => RawBuilder<unknown>

/**
 * Returns conditions that compare the values of a column as texts. So no row equals a text that is no value of the
 * column's type. If the column itself were compared with such a text, PostgreSQL would fail.
 *
 * @param isSought  returns a condition that an index serves, added for `eq` and `in`; it must be true for each row
 *   whose text is one of the values, and may be true for other rows
 */
const byText = (isSought?: IsSought): ShownCondition => (column, operator, values) => {
  const text = byBytes(column)
  if (operator === 'ne') return sql`${text} not in (${sql.join(values)})`
  if (operator !== 'eq' && operator !== 'in') {
    return anyOf(values.map((value) => sql`${text} ${symbols[operator]} ${value}`))
  }
  const isListed = sql<boolean>`${text} in (${sql.join(values)})`
  return isSought === undefined ? isListed : sql`(${isSought(column, values)} and ${isListed})`
}

/**
 * Returns the function that makes this condition: a column of an enumeration holds one of the given values. PostgreSQL
 * looks the labels up among those of the type, because it fails for a value that is none of them.
 */
function isAmongLabels ({ named = '' }: WrittenColumn): IsSought {
  const type = sql.raw(named)
  // PostgreSQL does not compare a domain over an enumeration without the cast. An index serves an array, but no select.
  return (column, values) => sql`cast(${column} as ${type}) = any(array(
    select cast(cast(enumlabel as text) as ${type}) from pg_enum
    where enumtypid = cast(${sql.lit(named)} as regtype) and enumlabel in (${sql.join(values.map(textOf))})))`
}

const textOf = (value: Parameter) => asText(sql`${value}`)

/** True for a text of more than 63 bytes, which a column of the type `name` cuts. */
const isCut: NonNullable<Storage['alters']> = (value) => Buffer.byteLength(String(value)) > 63

/**
 * Returns the storage of texts in a column `varchar(n)` that is too short for the field; undefined for any other column
 * of the types `text` and `varchar`.
 */
function shorterTexts (text: Storage, written: string, options: FieldOptions): Storage | undefined {
  const { digits: [length = Infinity] } = readType('', written)
  const cut = cutTo(length, options)
  return cut && { ...text, ...cut }
}

/**
 * Returns the storage of a column of texts whose type is not `text` or `varchar`, or of one that is too short for the
 * field; undefined for other columns.
 */
export function textsOf (text: Storage, column: WrittenColumn, options: FieldOptions): Storage | undefined {
  const { type } = column
  const byWords: Storage = { ...text, select: asText, shown: byText(), showsAll: true }
  if (type === 'enum') return { ...byWords, shown: byText(isAmongLabels(column)) }
  if (writtenTypes.some((name) => name === type)) return { ...byWords, respells: true }
  if (!comparableTypes.has(type)) return shorterTexts(text, column.written, options)
  // Without the cast, char(n) would have trailing blanks.
  const whole: Storage = { ...text, select: asText }
  if (type === 'bpchar') return { ...whole, alters: endsInBlank }
  return type === 'name' ? { ...whole, alters: isCut } : whole
}
