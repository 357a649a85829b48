import type { ColumnType, Generated, InsertType, SelectType, UpdateType } from 'kysely'
import type { Model } from './define-model.js'
import type { Field, KeyFieldOf, KeyOf, ValueOf } from './field.js'

/** Properties of a type, or of an intersection, written as one type. */
export type Flat<T> = { [K in keyof T]: T[K] }
type Fields<M extends Model> = M['fields']
type Names<M extends Model> = Exclude<keyof Fields<M> & string, 'id'>

/** Key of a field in JSON. */
export type Key<Name extends string, F extends Field> =
  F['kind'] extends 'foreignKey'
    ? F['options'] extends { readonly key: infer Own extends string } ? Own : `${Name}_id`
    : Name
/** Key of a field in bodies. `never` if no client may write the field. */
type BodyKey<Name extends string, F extends Field> =
  F['options'] extends { readonly onUpdate: string } | { readonly readOnly: true } ? never : Key<Name, F>
type Nullable<F extends Field> = F['options'] extends { readonly nullable: true } ? true : false
type Value<F extends Field> = Nullable<F> extends true ? ValueOf<F> | null : ValueOf<F>
type Optional<F extends Field> =
  Nullable<F> extends true ? true : F['options'] extends { readonly default: {} } ? true : false

/**
 * Record with all fields of a model, as it is serialized: `id` and one key for each field; a foreign key `user` is
 * `user_id`.
 */
export type RecordOf<M extends Model> = Flat<
  { id: KeyOf<M> } & { [N in Names<M> as Key<N, Fields<M>[N]>]: Value<Fields<M>[N]> }
>

/** Property `id` of the body of a create, if a create may or must bring its own key; otherwise no property. */
type OwnKey<M extends Model> =
  Fields<M> extends { readonly id: infer F extends Field }
    ? F['options'] extends { readonly clientGenerated: true } ? { id?: KeyOf<M> }
      : F['options'] extends { readonly generated: false } ? { id: KeyOf<M> }
        : F['kind'] extends 'text' ? Optional<F> extends true ? { id?: KeyOf<M> } : { id: KeyOf<M> }
          : {}
    : {}

/** Body of a create: fields that may be null or have a default may be left out. */
export type CreateOf<M extends Model> = Flat<
  OwnKey<M> &
  { [N in Names<M> as Optional<Fields<M>[N]> extends true ? never : BodyKey<N, Fields<M>[N]>]: Value<Fields<M>[N]> } &
  { [N in Names<M> as Optional<Fields<M>[N]> extends true ? BodyKey<N, Fields<M>[N]> : never]?: Value<Fields<M>[N]> }
>

/** Body of an update: every field may be left out. The fields of a key cannot be changed. */
export type UpdateOf<M extends Model> =
  Flat<{ [N in Exclude<Names<M>, KeyFieldOf<M>> as BodyKey<N, Fields<M>[N]>]?: Value<Fields<M>[N]> }>

/** JSON value of a field of a model, which may be null if the field is nullable. */
export type FieldValueOf<M extends Model, Name extends FieldNameOf<M>> = Value<Fields<M>[Name]>

/**
 * Keeps TypeScript from widening a literal such as `'open'` to `string` in the result of an option's function. It must
 * be intersected with the type of that result, which checks the values: this type permits any. While TypeScript still
 * infers the model `M`, this type has all properties. Once `M` is known, it has only the properties `Known`.
 */
export type KeptLiterals<M extends Model, Known extends PropertyKey = never> =
  { readonly [N in [M['name']] extends [never] ? string : Known]?: AnyLiteral | readonly AnyLiteral[] }
type AnyLiteral = '' | {} | null

/** Names of the fields of a model as declared, without `id`. Options of a resource name fields in this way. */
export type FieldNameOf<M extends Model> = Names<M>

/**
 * Names of the foreign keys of a model as declared: `user`, not `user_id`. The option `ownerField` of a resource takes
 * one of these names.
 */
export type ForeignKeyNameOf<M extends Model> = {
  [N in Names<M>]: 'foreignKey' extends Fields<M>[N]['kind'] ? N : never
}[Names<M>]

/** Names of the text fields of a model. The option `search` of a resource lists some of them. */
export type TextNameOf<M extends Model> = {
  [N in Names<M>]: 'text' extends Fields<M>[N]['kind'] ? N : never
}[Names<M>]

type ColumnName<Name extends string, F extends Field> =
  F['options'] extends { readonly column: infer Column extends string } ? Column : Key<Name, F>

/**
 * Types of the values that a driver gives and takes, by engine and kind of field. A kind is left out if its type is
 * that of the JSON value. The types hold for a database that openSqlite, openPostgres or openMariadb opened.
 */
interface StoredValues {
  sqlite: {
    boolean: number
    bigint: ColumnType<number, number | bigint, number | bigint>
    decimal: number
    json: string
  }
  postgres: {
    bigint: ColumnType<number | string, number | bigint | string, number | bigint | string>
    json: ColumnType<unknown, string, string>
  }
  mariadb: {
    boolean: number
    bigint: ColumnType<number | string, number | bigint | string, number | bigint | string>
    json: string
  }
}
type EngineName = keyof StoredValues
type StoredValue<F extends Field, Engine extends EngineName> =
  F['kind'] extends keyof StoredValues[Engine] ? StoredValues[Engine][F['kind']] : ValueOf<F>
type NullableColumn<F extends Field, Engine extends EngineName> =
  Nullable<F> extends true ? StoredValue<F, Engine> | null : StoredValue<F, Engine>
/**
 * True if the table has the default of the field, too. False for the default of a password, which is hashed, and for
 * one that a function returns.
 */
type HasStoredDefault<F extends Field> =
  F['kind'] extends 'password' ? false
    : F['options'] extends { readonly default: (...given: never[]) => unknown } ? false
      : F['options'] extends { readonly default: {} } ? true : false
type StoredColumn<F extends Field, Engine extends EngineName> =
  F['options'] extends { readonly readOnly: true } ? ReadColumn<NullableColumn<F, Engine>>
    : HasStoredDefault<F> extends true ? WithDefault<NullableColumn<F, Engine>> : NullableColumn<F, Engine>
/** Column of a field with `readOnly`: Kysely's inserts and updates cannot write it. */
type ReadColumn<C> = ColumnType<SelectType<C>, never, never>
/** Column that may be left out on insert. Kysely's `Generated` cannot do this if `C` is a `ColumnType` already. */
type WithDefault<C> = ColumnType<SelectType<C>, InsertType<C> | undefined, UpdateType<C>>

type KeyName<M extends Model> =
  Fields<M> extends { readonly id: { readonly options: { readonly column: infer Column extends string } } } ? Column
    : 'id'
type StoredKey<M extends Model> =
  Fields<M> extends { readonly id: { readonly options: { readonly generated: false } } } ? number
    : KeyOf<M> extends number ? Generated<number> : KeyOf<M>

type TableOf<M extends Model, Engine extends EngineName> = Flat<
  { [N in KeyName<M> as [KeyFieldOf<M>] extends [never] ? N : never]: StoredKey<M> } &
  { [N in Names<M> as ColumnName<N, Fields<M>[N]>]: StoredColumn<Fields<M>[N], Engine> }
>

/** Tables of the models, for Kysely: `Kysely<DatabaseOf<[typeof User, typeof Message], 'postgres'>>`. */
export type DatabaseOf<Models extends readonly Model[], Engine extends EngineName = 'sqlite'> =
  Flat<{ [M in Models[number] as M['table']]: TableOf<M, Engine> }>
