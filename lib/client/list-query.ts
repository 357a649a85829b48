import type { KindOperators } from '../fields/field-kinds.js'
import type { Operator, OperatorSyntax } from '../fields/operators.js'
import type { Field, ForeignKeyField, ValueOf } from '../model/field.js'
import type { Model } from '../model/model.js'
import type { FieldNameOf, Key } from '../model/types.js'
import type { Described, FieldAt, Listed, ModelOf } from './definition.js'

// Paths are judged one by one, as they are written: all paths of some models with a dozen foreign keys are more than a compiler can list.

declare const unknown: unique symbol
/** A parameter that the resource does not have, or an operator that its field does not have: no value fits it. */
export interface UnknownParameter<Name> {
  readonly [unknown]: Name
}

/** Foreign keys that a filter may follow by default. */
type MaxJoins = [1, 2, 3]

/** The fields that a client may name, under both spellings of foreign keys. */
type Columns<D extends Described> = ColumnsOf<ModelOf<D>, Exclude<Listed<D, 'exclude'>, Listed<D, 'filterable'>>>
type ColumnsOf<M extends Model, Hidden> = string extends keyof M['fields']
  ? { readonly id: Field<'key'> }
  : { readonly [N in FieldNameOf<M> | 'id' as N extends Hidden ? never : N | Key<N, FieldAt<M, N>>]: FieldAt<M, N> }
type ColumnSet = Readonly<Record<string, Field>>

/** The resources of a client by the names of their models. */
export type ByModel<All extends readonly Described[]> = { readonly [D in All[number] as ModelOf<D>['name']]: D }
/** What a foreign key leads to, as the client's resources tell it, if one of them is of this model. */
type Target<All, F> = F extends ForeignKeyField<infer M> ? M['name'] extends keyof All ? Extract<All[M['name']], Described> : M : never

/** How values of a kind are written in filters, where it is not only as in JSON. */
interface WrittenValues {
  bigint: bigint
  datetime: Date
}
type Value<F extends Field> = ValueOf<F> | (F['kind'] extends keyof WrittenValues ? WrittenValues[F['kind']] : never)
/** One value, or several of which any may match (`ne`: none). */
type OneOrMore<T> = T | readonly T[]

/** What a filter takes, by the syntax of its operator. */
interface Operands<F extends Field> {
  value: OneOrMore<Value<F>>
  list: ReadonlyArray<Value<F>>
  pattern: OneOrMore<string>
  constant: OneOrMore<null | (F['kind'] extends 'boolean' ? boolean : never)>
}
type OperatorOf<F extends Field> = KindOperators[F['kind']]
type Operand<F, O> = F extends Field ? O extends OperatorOf<F> ? Operands<F>[OperatorSyntax[O]] : never : never

/** What the filter of a path takes; never if there is no such filter. */
type Filter<All, C, Path, Joins extends readonly unknown[] = MaxJoins> =
  Path extends keyof C ? Operand<C[Path], 'eq'>
    : Path extends `${infer First}__${infer Rest}` ? First extends keyof C
      ? Rest extends Operator ? Operand<C[First], Rest>
        : C[First] extends ForeignKeyField ? Joins extends readonly [unknown, ...infer Left] ? Filter<All, Columns<Target<All, C[First]>>, Rest, Left> : never
          : never
      : never
      : never

/** The filter of a path that the resource opens by name, past what other resources exclude. */
type Opened<D extends Described, Path> =
  Path extends Listed<D, 'filterable'> ? Filter<{}, Columns<ModelOf<D>>, Path>
    : Path extends `${Listed<D, 'filterable'>}__${Operator}` ? Filter<{}, Columns<ModelOf<D>>, Path> : never

type Judged<Name, F> = [F] extends [never] ? UnknownParameter<Name> : F | undefined

type Orderable<C extends ColumnSet> = { [N in keyof C & string]: 'lt' extends OperatorOf<C[N]> ? N : never }[keyof C & string]
type Ordering<Name extends string> = Name | `-${Name}`

/** The parameters of a list that are no filters. */
export type Paging<D extends Described> = {
  /** Ascending, or descending after a `-`. */
  readonly ordering?: OneOrMore<Ordering<Orderable<Columns<D>>>> | undefined
  /** Records per page. */
  readonly limit?: number | undefined
  /** Counted from 1. */
  readonly page?: number | undefined
  /** Empty for the first of pages that follow each other by cursors; or a cursor. */
  readonly after?: string | undefined
}

/** The filters of fields themselves, with all their operators. */
type Direct<C extends ColumnSet> = { [N in keyof C & string]: ('eq' extends OperatorOf<C[N]> ? N : never) | `${N}__${OperatorOf<C[N]>}` }[keyof C & string]
/** The filters through one foreign key. */
type Joined<All, C extends ColumnSet> = {
  [N in keyof C & string]: C[N] extends ForeignKeyField ? `${N}__${Direct<Columns<Target<All, C[N]>>>}` : never
}[keyof C & string]

/** The names of parameters that can be listed: filters of fields themselves and through one foreign key. */
type Names<D extends Described, All> = Exclude<Direct<Columns<D>> | Joined<All, Columns<D>>, keyof Paging<D>>

/** What a list can be asked for, as far as it can be listed, for variables: filters of fields themselves and through one foreign key. */
export type ListQuery<D extends Described, All = {}> = Paging<D> & {
  readonly [Name in Names<D, All>]?: Filter<All, Columns<D>, Name> | undefined
}

/** Any parameters; those that can be listed are named for editors. Values are left to {@link Checked}. */
export type AnyQuery<D extends Described, All> =
  { readonly [Name in Names<D, All> | keyof Paging<D>]?: unknown } & { readonly [further: `${string}__${string}`]: unknown }

/** The parameters that a query has, each with what it takes. */
export type Checked<Query, D extends Described, All> = {
  readonly [Name in keyof Query]: Name extends keyof Paging<D> ? Paging<D>[Name] : Judged<Name, Filter<All, Columns<D>, Name> | Opened<D, Name>>
}
