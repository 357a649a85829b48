import type { TSchema } from '@sinclair/typebox'
import type { StorageName } from '../engines/storage.js'
import type { FieldOptions } from '../values/field-options.js'
import type { Json } from '../values/values.js'
import type { Operator } from './operators.js'

/** The JSON value of each kind. */
export interface KindValues {
  text: string
  integer: number
  bigint: string
  number: number
  decimal: string
  boolean: boolean
  datetime: string
  date: string
  json: Json
  uuid: string
  password: string
  foreignKey: number
  key: number
}

/** What a kind of field is: one row of the table below. */
export interface FieldKindRow<Value extends Json = Json> {
  /** Options that this kind has beside `nullable`, `default`, `unique` and `column`. */
  readonly options: readonly (keyof FieldOptions)[]
  /** What a value is, in words that follow "must be". */
  readonly expects: string
  /** The JSON Schema of a value in a record or a body. */
  schema (options: FieldOptions): TSchema
  /** The one form in which a value that fits the schema is stored, or undefined if it cannot be. */
  accept (value: Value, options: FieldOptions): Value | undefined
  /** The value of a filter's text, or undefined if the text is not of this kind. */
  parse (text: string, options: FieldOptions): Value | undefined
  readonly operators: readonly Operator[]
  /** Hashed on every write; never named by a filter or an ordering. */
  readonly isSecret?: true
  /** The value of the default `now`. */
  now? (moment: Date): Value
  readonly storage: StorageName
}
