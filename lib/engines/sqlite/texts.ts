import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { anyOf } from '../any-of.js'
import { named, type Parameter, type ShownCondition, type Storage } from '../storage.js'
import { affinity, held } from './affinity.js'

type Sql = RawBuilder<unknown>

/** Returns SQL of the text that records show of a column in which SQLite may keep numbers or bytes. */
export const asText = (column: Expression<unknown>) => sql`cast(${column} as text)`

const symbols = { lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const

/** Returns the operand of `in` that has every stored value which records may show as one of the given texts. */
type Candidates = (values: readonly Parameter[], listed: Sql | undefined) => Sql

/**
 * Returns conditions that compare a column by the texts that records show, character by character. For `eq` and `in`,
 * the stored values are also compared with candidates, so that an index serves.
 */
function byText (candidates: Candidates): ShownCondition {
  return (column, operator, values, listed) => {
    const text = sql`${asText(column)} collate binary`
    if (operator === 'ne') return sql<SqlBool>`${text} not in (${sql.join(values)})`
    if (operator !== 'eq' && operator !== 'in') {
      return anyOf(values.map((value) => sql<SqlBool>`${text} ${symbols[operator]} ${value}`))
    }
    const isListed = sql<SqlBool>`${text} in ${listed ?? sql`(${sql.join(values)})`}`
    return sql<SqlBool>`(${column} in ${candidates(values, listed)} and ${isListed})`
  }
}

/** Compares texts in a column of numeric affinity. SQLite itself makes a number of a text of digits there. */
const byNumericText: ShownCondition =
  byText((values, listed) => listed ?? sql`(${sql.join(values)})`)

/** Compares texts in a column without a type, which keeps texts, numbers and bytes as they were written. */
const byUntypedText: ShownCondition = byText((values, listed) => {
  if (listed === undefined) {
    return sql`(${sql.join(values.map((value) => sql`${value}, cast(${value} as numeric), cast(${value} as blob)`))})`
  }
  // A plus leaves the result without an affinity, which would convert the texts, and keep an index from serving.
  return sql`(select value from ${listed} union all select +cast(value as numeric) from ${listed}
    union all select +cast(value as blob) from ${listed})`
})

/**
 * True for the types that programs give to columns of texts, although SQLite stores a text of digits there as a number.
 */
const isTextual = named('time', 'uuid', 'guid', 'uniqueidentifier', 'string')
/** True for the types of columns that keep every text as it is. */
export const holdsText = held('text', 'none')
/** Storage of texts. A column of any type may hold bytes, too, which records show as text. */
const plainText = {
  type: () => 'text',
  holds: (declaredType) => holdsText(declaredType) || isTextual(declaredType),
  isCollated: true,
  decode: String,
  inlined: (expression) =>
    `(typeof ${expression} === 'string' || ${expression} === null ? ${expression} : String(${expression}))`
} as const satisfies Storage
/** Matches the texts that SQLite would store as numbers in a column of a type for which {@link isTextual} is true. */
const numeric = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i
/**
 * Storage of texts in columns of a type for which {@link isTextual} is true. A stored number is selected as text. A
 * write of a text that SQLite would store as a number is refused.
 */
const textualTypes: Storage = {
  ...plainText, select: asText, shown: byNumericText, alters: (value) => numeric.test(String(value))
}
/**
 * Storage of texts in columns without a type. SQLite keeps a number there as a number, and records show it as text. No
 * cursor is written for a number. Its text would mark another position, because SQLite orders numbers before all texts.
 */
const untyped: Storage = {
  ...plainText,
  select: asText,
  isWhole: (column) => sql`typeof(${column}) = 'text'`,
  shown: byUntypedText,
  showsOthers: true
}
/** Storage of texts, passwords and UUIDs. */
export const text: Storage = {
  ...plainText,
  ofType: ({ written }) => {
    if (isTextual(written)) return textualTypes
    return affinity(written) === 'none' ? untyped : undefined
  }
}
