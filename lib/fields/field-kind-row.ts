import type { TSchema } from '@sinclair/typebox'
import type { StorageName } from '../engines/storage.js'
import type { CommonOptions, FieldOptions } from '../values/field-options.js'
import type { Json } from '../values/values.js'
import type { Operator } from './operators.js'

/** The names of options, as keys of an object. The compiler requires all of them. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>

/**
 * Row of the table of field kinds for a kind whose fields have `Options`. The compiler requires that the row names each
 * of these options in its `options`, without those that all kinds have, such as `nullable`.
 */
export type KindRow<Value extends Json, Options> =
  FieldKindRow<Value, OptionNames<Omit<Options, keyof CommonOptions<unknown>>>>

/** Row of the table of field kinds: everything that a kind needs. */
export interface FieldKindRow<Value extends Json = Json, Names = Partial<OptionNames<FieldOptions>>> {
  /** Options that this kind has in addition to `nullable`, `default`, `unique`, `column` and `readOnly`. */
  readonly options: Names
  /** Description of a value, in words that follow "must be". */
  readonly expects: string
  /** Returns the JSON Schema of a value other than null in a record or a body. */
  schema (options: FieldOptions): TSchema
  /**
   * Converts a value, which must fit the schema, to the one JSON form that records show: a UUID to lower case, for
   * example. Returns undefined if the value cannot be stored.
   */
  accept (value: Value, options: FieldOptions): Value | undefined
  /** Returns the value of a text in a filter, a path or a cursor, or undefined if the text is not of this kind. */
  parse (text: string, options: FieldOptions): Value | undefined
  readonly operators: readonly Operator[]
  /** True if a new value is hashed before it is stored, and no filter or ordering may name the field. */
  readonly isSecret?: true
  /** Returns the value that the default `now` stands for at a moment. Absent if the kind has no such default. */
  now? (moment: Date): Value
  readonly storage: StorageName
}
