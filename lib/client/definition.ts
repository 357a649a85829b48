import type { Field, KeyField, KeyOf } from '../model/field.js'
import type { Model } from '../model/model.js'
import type { CreateOf, FieldNameOf, Flat, Key, RecordOf, UpdateOf } from '../model/types.js'

/**
 * A model with those options of its registration that change what clients see:
 * `{ model: typeof User, exclude: ['email'] }`. If the options are an object that was given to `register`:
 * `{ model: typeof User } & typeof userOptions`.
 */
export interface ResourceDefinition<M extends Model = Model> {
  readonly model: M
  readonly exclude?: readonly string[]
  readonly ownerField?: string
  readonly readOnly?: readonly string[]
  readonly filterable?: readonly string[]
  readonly search?: readonly string[]
  readonly scope?: (user: never) => object | null
  readonly etag?: boolean
  readonly path?: string
}

/** The description of a resource for a client: its model alone, or its model with options. */
export type Described = Model | ResourceDefinition

export type ModelOf<D extends Described> =
  D extends { readonly model: infer M extends Model } ? M : D extends Model ? D : never

/** The name of the resource in the path: the option `path`, otherwise the name of the model in lower case. */
export type NameOf<D extends Described> =
  D extends { readonly path: infer Path extends string } ? Path : Lowercase<ModelOf<D>['name']>

type ListOption = 'exclude' | 'readOnly' | 'filterable' | 'search'

/**
 * Union of the names in the lists of one or several options, such as `exclude`. An option that is absent adds no name.
 */
export type Listed<D extends Described, Option extends ListOption> = Option extends unknown
  ? D extends { readonly [O in Option]: ReadonlyArray<infer Name extends string> } ? Name : never
  : never
/**
 * Names of the fields for which the option `scope` gives conditions. A scope limits which records a user may see. A
 * create may leave such a field out: if the scope permits only one value for the field, the server sets that value. The
 * types do not check whether the scope permits only one.
 */
type Fixed<D extends Described> =
  D extends { readonly scope: (user: never) => infer Given }
    ? FieldsNamed<ModelOf<D>, NamesIn<NonNullable<Given>>>
    : never
type NamesIn<Given> = Given extends unknown ? keyof Given : never
/**
 * Declared names of those fields that occur in `Given`. There, a field may have its declared name, such as `user`, or
 * its key in records, such as `user_id`.
 */
type FieldsNamed<M extends Model, Given> = {
  [N in FieldNameOf<M>]: N extends Given ? N : Key<N, FieldAt<M, N>> extends Given ? N : never
}[FieldNameOf<M>]
type Owner<D extends Described> = D extends { readonly ownerField: infer Name extends string } ? Name : never

/**
 * The names in `exclude`, `readOnly`, `search` and `ownerField` that are no fields of the model. If there is one, code
 * that uses the resource does not compile. The type is `string` if TypeScript knows the names only as `string`. It
 * cannot check them then, so such code does not compile either.
 */
export type UnknownNames<D extends Described> =
  Exclude<Listed<D, 'exclude' | 'readOnly' | 'search'> | Owner<D>, FieldNameOf<ModelOf<D>>>

/**
 * The field that a model declares under a name. If the model declares none, the field of the primary key, because only
 * `id` need not be declared.
 */
export type FieldAt<M extends Model, Name extends string> =
  M['fields'] extends { readonly [N in Name]: infer F extends Field } ? F : KeyField<M>
type KeysOf<M extends Model, Names extends string> = { [Name in Names]: Key<Name, FieldAt<M, Name>> }[Names]

export type RecordKeyOf<D extends Described> = KeyOf<ModelOf<D>>
/** A record in an answer: the `id` and the fields of the model, except those that the option `exclude` lists. */
export type ResourceRecord<D extends Described> =
  Flat<Omit<RecordOf<ModelOf<D>>, KeysOf<ModelOf<D>, Listed<D, 'exclude'>>>>
/**
 * The body of a create: the fields that clients may write. The owner field is optional, because the server sets it, and
 * so are the fields that the scope names, because the server may set them.
 */
export type ResourceCreate<D extends Described> =
  WithOptionalKeys<
    CreateOf<ModelOf<D>>, KeysOf<ModelOf<D>, Listed<D, 'readOnly'>>, KeysOf<ModelOf<D>, Owner<D> | Fixed<D>>
  >
type WithOptionalKeys<Body, ReadOnly extends string, OwnerKey extends string> =
  Flat<Omit<Body, ReadOnly | OwnerKey> & { [K in OwnerKey & keyof Body]?: Body[K] }>
/**
 * The body of an update: the fields that clients may change, all optional. Not among them are the key, the owner field,
 * the fields in the option `readOnly`, and those that only the server or the database sets.
 */
export type ResourceUpdate<D extends Described> =
  Flat<Omit<UpdateOf<ModelOf<D>>, KeysOf<ModelOf<D>, Listed<D, 'readOnly'> | Owner<D>>>>

declare const unknown: unique symbol
/** The type of a parameter that the resource does not have, or whose field lacks the operator. No value fits it. */
export interface UnknownParameter<Name> {
  readonly [unknown]: Name
}

/**
 * A tuple whose length is the number of foreign keys that a path may follow: three, the default of the plugin's
 * `limits.joins`. The types do not know another limit of a server.
 */
export type MaxJoins = [1, 2, 3]
