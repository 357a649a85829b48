import type { ForeignKeyField, KeyOf } from '../model/field.js'
import type { Model } from '../model/model.js'
import type { Flat, ForeignKeyNameOf } from '../model/types.js'
import type {
  Described, FieldAt, Listed, MaxJoins, ModelOf, ResourceRecord, UnknownParameter
} from './definition.js'

/** Names of the foreign keys that a resource shows, as declared: `user`, not `user_id`. */
type References<D extends Described> = Exclude<ForeignKeyNameOf<ModelOf<D>>, Listed<D, 'exclude'>>

/**
 * A name in `include` if the query is held in a variable with a declared type. TypeScript then checks only the first
 * foreign key of a path. It checks the whole path if the query is written in the call.
 */
export type IncludeName<D extends Described> = References<D> | `${References<D>}__${string}`

/** A model that is not among the client's resources: only the `id` of its records is known. */
interface Unlisted<M extends Model> { readonly unlisted: M }
type Reached<All, D extends Described, Name extends string> =
  FieldAt<ModelOf<D>, Name> extends ForeignKeyField<infer M>
    ? M['name'] extends keyof All ? Extract<All[M['name']], Described> : Unlisted<M>
    : never
type DescribedOf<T> = T extends Unlisted<infer M> ? M : Extract<T, Described>
type RecordOfReached<T> = T extends Unlisted<infer M> ? { id: KeyOf<M> } : ResourceRecord<Extract<T, Described>>

/**
 * A path for `include`, such as `user__company`. The type is `Whole`, the path as written, if each name in it is a
 * foreign key that its resource shows, and if there are at most three names ({@link MaxJoins}). Otherwise it is
 * {@link UnknownParameter}, which no text fits. The type is recursive: `Path` is the end of the path, which is not
 * checked yet. `Joins` has as many elements as this end may have names.
 */
type CheckedPath<All, D extends Described, Path, Whole, Joins extends readonly unknown[] = MaxJoins> =
  Joins extends readonly [unknown, ...infer Left]
    ? Path extends References<D> ? Whole
      : Path extends `${infer First}__${infer Rest}` ? First extends References<D>
        ? CheckedPath<All, DescribedOf<Reached<All, D, First>>, Rest, Whole, Left>
        : UnknownParameter<Whole>
        : UnknownParameter<Whole>
    : UnknownParameter<Whole>

/** The option `include` of a call. The names in it, as literals, decide the type of the records. */
export interface Including<Include extends readonly string[], D extends Described, All> {
  /**
   * Related records to put into each record. Each text is a path of foreign keys, by their declared names and joined by
   * `__`: `['user', 'user__company']`.
   */
  readonly include?:
  (Include & { readonly [I in keyof Include]: CheckedPath<All, D, Include[I], Include[I]> }) | undefined
}

/**
 * The type of `include` in a query of the type `Given`: the tuple `Include`. If `Given` permits that `include` is
 * absent, the type is an array of the same names, so that the related records are optional.
 */
export type IncludeOf<Given, Include extends readonly string[]> =
  'include' extends keyof Given
    ? Given extends { readonly include: readonly unknown[] } ? Include : ReadonlyArray<Include[number]>
    : Include

type First<Path> = Path extends `${infer Name}__${string}` ? Name : Path
type RestAfter<Path, Name extends string> = Path extends `${Name}__${infer Rest}` ? Rest : never

/**
 * A record with the related records of the paths `Path`. A related record is null if the reference is null, or if the
 * user may not see the related record.
 */
type WithPaths<Record, D extends Described, All, Path extends string> = [Path] extends [never]
  ? Record
  : Flat<Record & {
    [Name in First<Path> & string]:
    | WithPaths<
        RecordOfReached<Reached<All, D, Name>>, DescribedOf<Reached<All, D, Name>>, All, RestAfter<Path, Name>
      >
    | null
  }>

/**
 * The record that a call with `include` returns. For the tuple `['user']`, it has the related record `user`. For an
 * array of unknown length, such as `'user'[]`, the related record is optional. A longer path in such an array, such as
 * `user__company`, adds only the related record of its first name, `user`. For `string[]`, the record has no related
 * records, because the names are not known.
 */
export type IncludingRecord<D extends Described, All, Include extends readonly string[]> =
  number extends Include['length']
    ? string extends Include[number]
      ? ResourceRecord<D>
      : Flat<ResourceRecord<D> & {
        [Name in First<Include[number]> & string]?: RecordOfReached<Reached<All, D, Name>> | null
      }>
    : WithPaths<ResourceRecord<D>, D, All, Include[number]>
