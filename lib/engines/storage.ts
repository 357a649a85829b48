import type { Expression, RawBuilder, SqlBool } from 'kysely'
import { digitsOf, type FieldOptions } from '../values/field-options.js'
import { finiteNumber, type Json } from '../values/values.js'

/**
 * A value as a driver takes or returns it. Objects and arrays are excluded, because drivers give them meanings of their
 * own.
 */
export type Stored = string | number | bigint | boolean | null

/**
 * Place of a value in a compiled statement that many requests share. Each request puts one of its values there, chosen
 * by `position`.
 */
export class Slot {
  readonly position: number
  constructor (position: number) {
    this.position = position
  }
}

/** Parameter of a statement: a value, or a slot for one. */
export type Parameter = Stored | Slot

/** Ways of storing values that every engine has. Several kinds of fields may share one. */
export type StorageName =
  'key' | 'text' | 'integer' | 'bigint' | 'number' | 'decimal' | 'boolean' | 'datetime' | 'date' | 'json' | 'uuid'

/**
 * Returns a condition that compares a column with values by what records show, which may be less than is stored: whole
 * seconds, for example. It is true if any of the values matches; for `ne`, if none is equal.
 *
 * @param listed  the operand of `in` for values that are given as one JSON array, as `Dialect.listed` returns it; only
 *   for columns of texts, integers and UUIDs
 */
export type ShownCondition = (
  column: RawBuilder<unknown>,
  operator: 'eq' | 'ne' | 'in' | 'lt' | 'lte' | 'gt' | 'gte',
  values: readonly Parameter[],
  listed?: RawBuilder<unknown>
) => RawBuilder<SqlBool>

/**
 * Conversion between stored values and their texts in a cursor, which marks a position in a list. Needed if the text of
 * a value in a filter does not tell exactly what is stored. For example, such a text has no fraction of a second.
 */
export interface Exact {
  /** Returns the text for a value as it was selected. */
  write (stored: Stored, options: FieldOptions): string
  /**
   * Parses the text of one value of a cursor. Returns undefined if the text does not stand for a value. Then no cursor
   * is written, and a cursor from a client is refused with 400.
   */
  read (text: string): Stored | undefined
}

/** An existing column, with its type as the engine writes it. */
export interface WrittenColumn {
  readonly table: string
  readonly name: string
  /**
   * The type with its length or its digits, as SQL writes it: `numeric(10,2)`. An enumeration is written with its
   * labels, `enum('a','b')`, and a domain of PostgreSQL as the type on which it is based. It is `json` for a JSON
   * column of MariaDB, whose type is `longtext`, and empty for a column of SQLite without a type.
   */
  readonly written: string
  /** Name of the type, as {@link Storage.holds} takes it: without a length or digits, except on SQLite. */
  readonly type: string
  /**
   * Name of the type for a cast in SQL. An enumeration needs it, because `written` has only its labels. PostgreSQL
   * alone gives it.
   */
  readonly named?: string
  /**
   * SQL type, with character set and collation, that a column must have to refer to this one. Absent if a column of any
   * type may refer to it.
   */
  readonly referring?: string
  /** Collation of a text; null for other columns. Absent if no storage depends on it. */
  readonly collation?: string | null
  /** 1 if the column may be null, otherwise 0; read with `isYes`. Absent if no storage depends on it. */
  readonly nullable?: unknown
  /**
   * 1 if the database generates integers for the column, otherwise 0; read with `isYes`. Absent if no storage depends
   * on it.
   */
  readonly generated?: unknown
  /**
   * 1 if the column has the index {@link Storage.index}, otherwise 0 or absent. A driver may give a number, a text or a
   * BigInt: read it with `isYes`.
   */
  readonly indexed?: unknown
}

/**
 * How one engine stores one kind of value, such as dates: the type of the column, and the SQL and functions by which
 * values are written, selected, compared and ordered.
 */
export interface Storage {
  /** Returns the column type for `create table`. */
  type (options: FieldOptions): string
  /** True if an existing column of this declared type can hold values of this kind. */
  holds (declaredType: string): boolean
  /**
   * True if a collation of the engine would decide which values are equal and which comes first. Filters and orderings
   * then use `Dialect.exact`.
   */
  readonly isCollated?: true
  /** Returns SQL to order texts by. Present if the engine would look only at the beginning of a long text otherwise. */
  readonly sorted?: (text: RawBuilder<unknown>) => RawBuilder<unknown>
  /** Current moment or date, as a default in `create table`. */
  readonly now?: Expression<unknown>
  /**
   * Returns the condition of a check constraint for the column. Present if the column's type also permits values that
   * the field does not.
   */
  readonly check?: (column: Expression<unknown>) => Expression<unknown>
  /**
   * Index that createTables() makes on the column, for some rows only: `name` is the end of the index's name, and `of`
   * returns the condition for the rows in the index.
   */
  readonly index?: { readonly name: string, readonly of: (column: Expression<unknown>) => Expression<SqlBool> }
  /**
   * Returns the expression to select. Present if drivers differ, or do not return the column's value exactly. If
   * absent, the column itself is selected.
   */
  readonly select?: (column: Expression<unknown>) => Expression<unknown>
  /**
   * Returns SQL that is true if the selected value is the whole stored value. Present if a column may hold more than is
   * selected, such as fractions of a second.
   */
  readonly isWhole?: (column: Expression<unknown>) => Expression<unknown>
  /**
   * Returns an SQL condition that is true if the value of the column can be part of a record; a record has null in
   * place of other values, such as an infinite date. Absent if every value can be part of a record.
   */
  readonly isShown?: (column: Expression<unknown>) => Expression<SqlBool>
  /** Returns SQL that is true if the column is null. Present if `is null` also finds other values. */
  readonly isNull?: (column: Expression<unknown>) => RawBuilder<SqlBool>
  /** Returns the condition of a filter. Present if the operator's own SQL does not compare what records show. */
  readonly shown?: ShownCondition
  /**
   * Returns two stored values for a value that records show: the least one that is shown so, and the least one that is
   * shown as the next greater value. For `1.01` with two digits after the point, they are about 1.005 and 1.015. If
   * `bounds` is present, {@link shown} makes its condition of these two in place of each value of the filter.
   */
  readonly bounds?: (value: Json, options: FieldOptions) => readonly [Stored, Stored]
  /**
   * True if records show a text also for a value of another type, so that writing the text would change the value. An
   * update that repeats the shown text does not write it.
   */
  readonly showsOthers?: true
  /**
   * True if records show all that is stored. The condition for the rows after a cursor then uses `shown`, too. If
   * absent, that condition compares the stored values themselves.
   */
  readonly showsAll?: true
  /** Converts values for cursors. If absent, a cursor holds the same text for a value as a filter does. */
  readonly exact?: Exact
  /**
   * Returns the storage that an existing column needs for a field with these options because of its type, collation or
   * index; undefined if this storage fits.
   */
  readonly ofType?: (column: WrittenColumn, options: FieldOptions) => Storage | undefined
  /**
   * Returns the SQL of a value that the column is compared with. Present if the engine would otherwise convert the
   * value to the column's type, which may be narrower.
   */
  readonly compared?: (value: Parameter) => Expression<unknown>
  /**
   * True if the column would refuse a value or store something else in its place, so that a write of it is refused with
   * 409. Absent if the column keeps every value.
   */
  readonly alters?: (value: Json) => boolean
  /**
   * True if `alters` is false for each value that records show. An update that repeats such a value then writes it, as
   * if there were no `alters`.
   */
  readonly keepsShown?: true
  /**
   * True if the column may store a value in another spelling than it was written, such as `09:00:00` for `9:00`. A
   * scope then looks at the stored value after the write.
   */
  readonly respells?: true
  /** True if the column would store something else in place of null, so that a write of null is refused with 409. */
  readonly replacesNull?: true
  /** Converts a JSON value to what the driver takes. Absent if the driver takes the JSON value as it is. */
  readonly encode?: (value: Json) => Stored
  decode (stored: Stored, options: FieldOptions): Json
  /** Returns JavaScript that does the same as `decode` with an expression. Absent if this would need functions. */
  readonly inlined?: (expression: string) => string
}

/** How one engine stores each kind of value: its column types, and the conversions to and from the driver's values. */
export type StorageTable = Readonly<Record<StorageName, Storage>>

/** Takes values from the driver as they are. */
export const asIs = { decode: (stored: Stored) => stored as Json }

/** Stores JSON as text. A text that is not valid JSON becomes null. */
export const asJson = {
  encode: (value: Json): string => JSON.stringify(value),
  decode: (stored: Stored): Json => {
    try {
      return JSON.parse(String(stored))
    } catch {
      return null
    }
  }
}

/**
 * Reads integers that SQLite returns as numbers. One from 2^53 on, which the driver has rounded, and anything else that
 * SQLite stores in any column become null.
 */
export const asInteger = {
  decode: (stored: Stored): number | null => Number.isSafeInteger(stored) ? Number(stored) : null,
  inlined: (expression: string): string => `(Number.isSafeInteger(${expression}) ? ${expression} : null)`
}

/** Reads floating-point numbers. Infinities and anything that is no number become null, because JSON has none. */
export const asFinite = { decode: finite }

/** Conversion of numbers for cursors. It drops the zeros that the text of a driver may have at its end. */
export const exactNumber: Exact = { write: (stored) => String(Number(stored)), read: finiteNumber }

/** Texts that `Number` takes for a number although they are blank, or not in decimal digits. */
const notDecimal = /^\s*(?:$|0[box])/i

function finite (stored: Stored): number | null {
  const value = Number(stored)
  return Number.isFinite(value) && !(typeof stored === 'string' && notDecimal.test(stored)) ? value : null
}

/**
 * Returns a stored number as text, rounded to exactly `scale` digits after the decimal point; null if it is not finite.
 * Zero has no sign.
 */
export function decodeDecimal (stored: Stored, options: FieldOptions): string | null {
  const text = finite(stored)?.toFixed(digitsOf(options).scale) ?? null
  return text !== null && text.startsWith('-0') && Number(text) === 0 ? text.slice(1) : text
}

/** Returns the function that makes the column type of a decimal, such as `numeric(15, 2)`. */
export function decimalType (name: string): Storage['type'] {
  return (options) => {
    const { precision, scale } = digitsOf(options)
    return `${name}(${precision}, ${scale})`
  }
}

/**
 * Stores booleans as 0 and 1. A driver may make true and false of them. Anything else becomes null: it must not pass
 * for true, because a boolean may decide who is an admin.
 */
export const asBit = {
  encode: Number,
  decode: (stored: Stored): boolean | null => {
    if (stored === 1 || stored === 0) return stored === 1
    return typeof stored === 'boolean' ? stored : null
  }
}

/** Returns a function that is true if the declared type of a column is one of the names, in upper or lower case. */
export function named (...names: readonly string[]): Storage['holds'] {
  return (declaredType) => names.includes(declaredType.toLowerCase())
}
