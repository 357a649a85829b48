import type { Expression, RawBuilder, SqlBool } from 'kysely'
import type { FieldOptions } from '../values/field-options.js'
import type { Json } from '../values/values.js'

/** What is handed to a driver: nothing else, since drivers give objects and arrays meanings of their own. */
export type Stored = string | number | bigint | boolean | null

/** Stands for a value of a request, by its position, in a statement that is compiled before. */
export class Slot {
  readonly position: number
  constructor (position: number) {
    this.position = position
  }
}

/** What may stand in a statement as a parameter. */
export type Parameter = Stored | Slot

/** The ways of keeping values that every engine has; several kinds of fields may share one. */
export type StorageName =
  'key' | 'text' | 'integer' | 'bigint' | 'number' | 'decimal' | 'boolean' | 'datetime' | 'date' | 'json' | 'uuid'

/** Compares a column with values of which any may match (`ne`: none), by what records show of it. */
export type ShownCondition =
  (column: RawBuilder<unknown>, operator: 'eq' | 'ne' | 'in' | 'lt' | 'lte' | 'gt' | 'gte', values: readonly Parameter[]) => RawBuilder<SqlBool>

/** Stored values in cursors, where records do not show them in full. */
export interface Exact {
  /** The text for a value as it was selected. */
  write (stored: Stored): string
  /** What a text is compared as; undefined if no cursor has it. */
  read (text: string): Stored | undefined
}

/** An existing column, with its type as the engine writes it. */
export interface WrittenColumn {
  readonly table: string
  readonly name: string
  readonly written: string
  /** Whether it has the {@link Storage.index} of its values. */
  readonly indexed?: unknown
}

/** How values are kept in one engine. */
export interface Storage {
  /** Column type in `create table`. */
  type (options: FieldOptions): string
  /** Whether an existing column of this declared type holds such values. */
  holds (declaredType: string): boolean
  /** The engine's collation has a say in which values are equal and which comes first. */
  readonly isCollated?: true
  /** The present, as a default in `create table`. */
  readonly now?: Expression<unknown>
  /** What must hold of a value in the column, beyond its type. */
  readonly check?: (column: Expression<unknown>) => Expression<unknown>
  /** Which rows createTables() makes an index of the column for, under the end of a name. */
  readonly index?: { readonly name: string, readonly of: (column: Expression<unknown>) => Expression<SqlBool> }
  /** Expression to select, if drivers would not give the column's value exactly, or each in its own way. */
  readonly select?: (column: Expression<unknown>) => Expression<unknown>
  /** Whether a value is told in full by what is selected, if a column may hold more than its kind has. */
  readonly isWhole?: (column: Expression<unknown>) => Expression<unknown>
  /** Whether a value can be shown at all, if not every one can; null is shown for the others. */
  readonly isShown?: (column: Expression<unknown>) => Expression<SqlBool>
  /** How filters compare, where what is stored differs from what records show. */
  readonly shown?: ShownCondition
  /** How cursors hold a value, if not as a filter would. */
  readonly exact?: Exact
  /** How values are kept in an existing column, if not in this way. */
  readonly ofType?: (column: WrittenColumn) => Storage | undefined
  /** A value in a comparison, if the engine would first force it into the column's type, which may be narrower. */
  readonly compared?: (value: Parameter) => Expression<unknown>
  encode (value: Json): Stored
  decode (stored: Stored, options: FieldOptions): Json
}

/** How each kind of value is kept in one engine. */
export type StorageTable = Readonly<Record<StorageName, Storage>>

/** Values that go in and come out as they are. */
export const asIs = { encode: (value: Json) => value as Stored, decode: (stored: Stored) => stored as Json }

/** Numbers that a driver may give as a number, a text or a BigInt. */
export const asNumber = { encode: asIs.encode, decode: (stored: Stored): number => typeof stored === 'number' ? stored : Number(stored) }

/** JSON kept as text. */
export const asJson = {
  encode: (value: Json): string => JSON.stringify(value),
  decode: (stored: Stored): Json => {
    try {
      return JSON.parse(String(stored)) as Json
    } catch {
      // The parser's own error quotes the text, and is logged.
      throw new TypeError('A JSON column holds what is no JSON')
    }
  }
}

/** Floating-point numbers, which JSON has unless they are infinite or no numbers. */
export const asFinite = { encode: asIs.encode, decode: finite }

/** Texts that `Number` takes for a number although they tell none, or not in decimal digits. */
const notDecimal = /^\s*(?:$|0[box])/i

function finite (stored: Stored): number | null {
  const value = Number(stored)
  return Number.isFinite(value) && !(typeof stored === 'string' && notDecimal.test(stored)) ? value : null
}

/** A decimal with exactly its digits behind the point, whatever the column has. */
export function decodeDecimal (stored: Stored, { scale = 2 }: FieldOptions): string | null {
  return finite(stored)?.toFixed(scale) ?? null
}

/** The type of a column with the digits of a decimal. */
export function decimalType (name: string): Storage['type'] {
  return ({ precision = 15, scale = 2 }) => `${name}(${precision}, ${scale})`
}

/** Booleans in an engine that keeps 0 and 1; anything else must not pass for true: it may decide who is an admin. */
export const asBit = {
  encode: Number,
  decode: (stored: Stored): boolean => {
    if (stored === 1 || stored === 0) return stored === 1
    throw new TypeError('A boolean column holds something else than 0 and 1')
  }
}

/** Whether a declared type is one of some names. */
export function named (...names: readonly string[]): Storage['holds'] {
  return (declaredType) => names.includes(declaredType.toLowerCase())
}
