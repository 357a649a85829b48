import type { FieldKind, KindValues } from '../fields/field-kinds.js'
import type {
  CommonOptions, DatetimeOptions, DecimalOptions, FieldOptions, ForeignKeyOptions, KeyOptions, PasswordOptions,
  RangeOptions, TextOptions, UuidOptions
} from '../values/field-options.js'
import type { Field, ForeignKeyField, Model } from './model.js'

export type {
  CommonOptions, DatetimeOptions, DecimalOptions, ForeignKeyOptions, KeyOptions, PasswordOptions, RangeOptions,
  TextOptions, UuidOptions
} from '../values/field-options.js'
export type { Field, ForeignKeyField }

const field = <const Kind extends FieldKind>(kind: Kind) =>
  <Allowed extends FieldOptions>() =>
    <const Options extends Allowed = Allowed>(options?: Options): Field<Kind, Options> =>
      Object.freeze({ kind, options: frozen(options) })

/**
 * Text, compared and ordered character by character. A text longer than `maxLength` is refused with 400. As the field
 * `id` it is the primary key of a model: a create brings it along, or its `default` returns it.
 */
export const text = field('text')<TextOptions>()
/** A whole number from -2^31 to 2^31-1. */
export const integer = field('integer')<RangeOptions>()
/** A whole number from -2^63 to 2^63-1; travels as text, because JSON numbers lose digits above 2^53. */
export const bigint = field('bigint')<CommonOptions<string>>()
/** A finite floating-point number of 64 bits. The number -0 is refused with 400. */
export const number = field('number')<RangeOptions>()
/** A decimal number with a fixed count of digits after the point; travels as text, such as `"12.50"`. */
export const decimal = field('decimal')<DecimalOptions>()
/** `true` or `false`. */
export const boolean = field('boolean')<CommonOptions<boolean>>()
/**
 * A moment in UTC, in whole seconds, as `YYYY-MM-DD HH:MM:SS`; the default `now` is the time of creation, and
 * `onUpdate: 'now'` sets the time of each update that changes something.
 */
export const datetime = field('datetime')<DatetimeOptions>()
/** A day as `YYYY-MM-DD`; the default `now` is the day of creation, in UTC. */
export const date = field('date')<CommonOptions<string | 'now'>>()
/**
 * Any JSON, stored as text, on PostgreSQL in a column of type `json`. JSON of more than 64 levels, or with -0, a NUL
 * character or half a surrogate pair, is refused with 400. Filters can use only `is`, and lists cannot be ordered by
 * it.
 */
export const json = field('json')<Omit<CommonOptions<unknown>, 'unique'>>()
/**
 * A UUID of any version, stored in lower case. As the field `id` it is the primary key of a model, and the plugin makes
 * its values; with `clientGenerated`, clients may bring their own.
 */
export const uuid = field('uuid')<UuidOptions>()
/**
 * The integer primary key, for the field `id` alone. Declare it if its column has another name, or if the database does
 * not make its values: a create then brings them along.
 */
export const key = field('key')<KeyOptions>()
/**
 * A password: a new value is hashed with argon2id before it is stored. Records show the hash if the resource does not
 * `exclude` the field, and an update that repeats the shown hash keeps it. No filter or ordering may name the field.
 */
export const password = field('password')<PasswordOptions>()

/**
 * A reference to a record of another model, serialized as `<field>_id`, or under the name in the option `key`.
 *
 * @param target  a function, so that models may refer to each other. Annotate it if a model refers to itself:
 *                `foreignKey((): Model<'Employee'> => Employee)`; and if its primary key is a UUID or a text:
 *                `foreignKey((): Model<'Employee', { id: Field<'uuid'> }> => Employee)`
 */
export function foreignKey<Target extends Model, const Options extends ForeignKeyOptions = ForeignKeyOptions> (
  target: () => Target, options?: Options
): ForeignKeyField<Target, Options> {
  return Object.freeze({ kind: 'foreignKey', options: frozen(options), target })
}

/** Returns a frozen copy of options. */
function frozen<Options extends object> (options: Options | undefined): Options {
  return Object.freeze({ ...options }) as Options
}

/** Names of the fields of a key of several columns; `never` for any other key. */
export type KeyFieldOf<M extends Model> =
  string extends M['keyFields'][number] ? never : Exclude<M['keyFields'][number], 'id'>

/**
 * Type of the values of a model's primary key: text if the key has several columns or is a UUID or a text, otherwise a
 * number.
 */
export type KeyOf<M extends Model> = [KeyFieldOf<M>] extends [never] ? PlainKeyOf<M> : string
type PlainKeyOf<M extends Model> =
  M['fields'] extends { readonly id: infer F extends Field<'uuid' | 'text'> } ? PlainValue<F> : number

/** JSON value of a field that is no foreign key. */
type PlainValue<F extends Field> =
  F['options'] extends { readonly enum: ReadonlyArray<infer Choice> } ? Choice : KindValues[F['kind']]

/** JSON value of a field, without null. */
export type ValueOf<F extends Field> =
  F extends ForeignKeyField<infer Target> ? KeyOf<Target> : PlainValue<F>

/** Type of the field `id` of a model. The kind of this field decides which operators filters on `id` have. */
export type KeyField<M extends Model> = [KeyFieldOf<M>] extends [never]
  ? M['fields'] extends { readonly id: infer F extends Field } ? F : Field<'key'>
  : Field<'compositeKey'>

/**
 * Kind that decides which operators the filters on a field have. If a field is a foreign key that refers to a text, it
 * is `text`. Otherwise it is the field's own kind. This is right also for foreign keys that refer to other keys,
 * because those have the same operators as `foreignKey`.
 */
export type OperatorKindOf<F extends Field> =
  F extends ForeignKeyField<infer Target>
    ? Target['fields'] extends { readonly id: Field<'text'> } ? 'text' : F['kind']
    : F['kind']
