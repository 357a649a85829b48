import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { FieldOptions } from '../values/field-options.js'
import type { StorageName } from './storage.js'

/** A table, or what else an engine lists beside tables. */
export interface TableRow {
  readonly name: string
  /** `table`, or what it is instead, in a word or two. */
  readonly kind: string
}

/** A column of a table, in the order of the table. What is yes or no is 1 or 0, perhaps as text. */
export interface ColumnRow {
  readonly table: string
  readonly name: string
  /** The name of the type, as `Storage.holds` takes it. */
  readonly type: string
  /** The type with its length or its digits, as one would write it. */
  readonly written: string
  readonly nullable: unknown
  /** Whether the database generates integers for it. */
  readonly generated: unknown
  /** Whether the database computes it from other columns. */
  readonly computed: unknown
  /** The default, as an SQL expression. */
  readonly declared: string | null
}

/** A column of a primary key or of a unique index without conditions; null for an expression. */
export interface KeyRow {
  readonly table: string
  readonly key: string
  readonly column: string | null
  readonly primary: unknown
}

/** A column of a foreign key. */
export interface ReferenceRow {
  readonly table: string
  readonly key: string
  readonly column: string
  /** Empty if that table is not found by its bare name. */
  readonly target: string
  /** Null for the primary key. */
  readonly targetColumn: string | null
  /** In words, in any case: `cascade`, `set null`, `no action`, … */
  readonly onDelete: string
}

/** The field that a column would be, and what is lost by that. */
export interface DescribedType {
  readonly kind: StorageName
  readonly options: FieldOptions
  readonly loss?: string
}

/** A type with its length or its digits, such as `numeric(10,2)`. */
export interface WrittenType {
  /** In lower case. */
  readonly name: string
  readonly digits: readonly number[]
  readonly written: string
}

/** The types of an engine by name. A row is all that another type needs. */
export type TypeTable = Readonly<Record<string, (type: WrittenType) => DescribedType>>

/** How an engine tells what tables there are. The rows of a table, and of a key, come in their order. */
export interface Catalog {
  readonly tables: RawBuilder<TableRow>
  readonly columns: RawBuilder<ColumnRow>
  readonly keys: RawBuilder<KeyRow>
  readonly references: RawBuilder<ReferenceRow>
  /** The tables whose new rows a trigger or a rule may complete or redirect before they are written. */
  readonly completed?: RawBuilder<{ readonly table: string }>
  readonly types: TypeTable
  /** Types of columns that have a default although none is declared. */
  readonly implicitDefaults?: readonly string[]
  /** Whether a value that is not null is one of a kind, where columns that may hold the kind also hold other values. */
  readonly fits: Readonly<Partial<Record<StorageName, (column: Expression<unknown>) => RawBuilder<SqlBool>>>>
}

/** Whether an integer is a number of JSON, exactly. */
export const isSafe = (column: Expression<unknown>): RawBuilder<SqlBool> => sql`${column} between ${sql.lit(Number.MIN_SAFE_INTEGER)} and ${sql.lit(Number.MAX_SAFE_INTEGER)}`

const plain = (kind: StorageName) => (): DescribedType => ({ kind, options: {} })

/** Types that are one kind of field, whatever their length. */
export const described = {
  integer: plain('integer'),
  bigint: plain('bigint'),
  number: plain('number'),
  boolean: plain('boolean'),
  datetime: plain('datetime'),
  date: plain('date'),
  json: plain('json'),
  uuid: plain('uuid'),
  text: ({ digits: [maxLength] }) => ({ kind: 'text', options: maxLength === undefined ? {} : { maxLength } }),
  /** Without digits, or with more than are kept exactly, the nearest is a number. */
  decimal: ({ digits: [precision = 0, scale = 0], written }) => {
    if (precision >= 1 && precision <= 15 && scale >= 0 && scale <= precision) return { kind: 'decimal', options: { precision, scale } }
    return { kind: 'number', options: {}, loss: `is ${written}, of which 15 digits are exact, and is read as a floating-point number` }
  }
} as const satisfies TypeTable

/** A type as an engine writes it, taken apart. */
export function readType (name: string, written: string): WrittenType {
  const [, digits = ''] = /\(([-\d, ]+)\)/.exec(written) ?? []
  return { name: name.replace(/\(.*/s, '').trim().toLowerCase(), digits: digits === '' ? [] : digits.split(',').map(Number), written }
}

/** What is 1 or 0 may come as a text or a BigInt. */
export function isYes (answer: unknown): boolean {
  return Number(answer) === 1
}
