import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { FieldOptions } from '../values/field-options.js'
import type { StorageName } from './storage.js'

/** A table, or another object that an engine lists beside tables, such as a view. */
export interface TableRow {
  readonly name: string
  /** `table`, or another kind in a word or two, such as `view`. */
  readonly kind: string
}

/** A column of a table. Rows come in the order of the table. Yes and no are 1 and 0, possibly as text or BigInt. */
export interface ColumnRow {
  readonly table: string
  readonly name: string
  /** Name of the type, as `Storage.holds` takes it. */
  readonly type: string
  /** The type with its length or its digits, as SQL writes it. */
  readonly written: string
  readonly nullable: unknown
  /** 1 if the database generates integers for it. */
  readonly generated: unknown
  /** 1 if the database computes it from other columns. */
  readonly computed: unknown
  /** The default, as an SQL expression; null if none is declared. */
  readonly declared: string | null
}

/** A column of a primary key or of a unique index without conditions; null for an expression or a prefix. */
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
  /** Table that the key refers to; empty if that table is not found by its bare name. */
  readonly target: string
  /** Column that the key refers to; null for the primary key. */
  readonly targetColumn: string | null
  /** Action in upper or lower case: `cascade`, `set null`, `no action`, … */
  readonly onDelete: string
}

/** Kind and options of the field that a column becomes, and the loss that this means, if any. */
export interface DescribedType {
  readonly kind: StorageName
  readonly options: FieldOptions
  readonly loss?: string
}

/** A type with its length or its digits, such as `numeric(10,2)`. */
export interface WrittenType {
  /** Name without length or digits, in lower case. */
  readonly name: string
  readonly digits: readonly number[]
  readonly written: string
}

/** Types of an engine by name. A new type needs one more row and nothing else. */
export type TypeTable = Readonly<Record<string, (type: WrittenType) => DescribedType>>

/**
 * Queries for the tables of a database, and the fields that their columns become. The columns of a table come in its
 * order, and those of a key in the order of the key.
 */
export interface Catalog {
  readonly tables: RawBuilder<TableRow>
  readonly columns: RawBuilder<ColumnRow>
  readonly keys: RawBuilder<KeyRow>
  readonly references: RawBuilder<ReferenceRow>
  /** Tables whose new rows a trigger or a rule may complete or redirect before they are written. */
  readonly completed?: RawBuilder<{ readonly table: string }>
  readonly types: TypeTable
  /** Types of columns that have a default although none is declared. */
  readonly implicitDefaults?: readonly string[]
  /** Conditions for values that are not null: true if they are of the kind. Absent if columns hold no others. */
  readonly fits: Readonly<Partial<Record<StorageName, (column: Expression<unknown>) => RawBuilder<SqlBool>>>>
}

/** True if a JSON number holds the integer exactly. */
export const isSafe = (column: Expression<unknown>): RawBuilder<SqlBool> =>
  sql`${column} between ${sql.lit(Number.MIN_SAFE_INTEGER)} and ${sql.lit(Number.MAX_SAFE_INTEGER)}`

const plain = (kind: StorageName) => (): DescribedType => ({ kind, options: {} })

/** Rows for the type tables of engines. */
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
  /** Becomes a number field if the type has no digits or more than 15, because only 15 are exact. */
  decimal: ({ digits: [precision = 0, scale = 0], written }) => {
    const isExact = precision >= 1 && precision <= 15 && scale >= 0 && scale <= precision
    if (isExact) return { kind: 'decimal', options: { precision, scale } }
    const loss = `is ${written}, of which 15 digits are exact, and is read as a floating-point number`
    return { kind: 'number', options: {}, loss }
  }
} as const satisfies TypeTable

/** Parses a type as an engine writes it: its name, and its length or digits. */
export function readType (name: string, written: string): WrittenType {
  const [, digits = ''] = /\(([-\d, ]+)\)/.exec(written) ?? []
  return {
    name: name.replace(/\(.*/s, '').trim().toLowerCase(),
    digits: digits === '' ? [] : digits.split(',').map(Number),
    written
  }
}

/** True if an answer is 1, also as a text or a BigInt. */
export function isYes (answer: unknown): boolean {
  return Number(answer) === 1
}
