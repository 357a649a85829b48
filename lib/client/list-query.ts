import type { KindOperators } from '../fields/field-kinds.js'
import type { Operator, OperatorSyntax } from '../fields/operators.js'
import type { Field, ForeignKeyField, OperatorKindOf, ValueOf } from '../model/field.js'
import type { Model } from '../model/model.js'
import type { FieldNameOf, Key } from '../model/types.js'
import type { Described, FieldAt, Listed, MaxJoins, ModelOf, UnknownParameter } from './definition.js'
import type { IncludeName } from './include.js'

// The types check each path that a query names. They do not list all paths: a few models with a dozen foreign keys have
// more paths than the compiler can list.

/**
 * The fields that a client may filter by: those that `exclude` does not list, and those that `filterable` lists. A
 * foreign key has both of its names: `user` and `user_id`.
 */
type Columns<D extends Described> = ColumnsOf<ModelOf<D>, Exclude<Listed<D, 'exclude'>, Listed<D, 'filterable'>>>
type ColumnsOf<M extends Model, Hidden> = string extends keyof M['fields']
  ? { readonly id: Field<'key'> }
  : { readonly [N in FieldNameOf<M> | 'id' as N extends Hidden ? never : N | Key<N, FieldAt<M, N>>]: FieldAt<M, N> }
type ColumnSet = Readonly<Record<string, Field>>

/**
 * The resources of a client by the names of their models. If a model has several resources, the first one counts, as on
 * the server.
 */
export type ByModel<All extends readonly Described[]> = { readonly [D in FirstOfEach<All> as ModelOf<D>['name']]: D }
/**
 * The resources of a list, but only the first one of each model. The type is recursive: `Names` are the names of the
 * models that are done, and `Kept` are their resources.
 */
type FirstOfEach<All extends readonly Described[], Names = never, Kept extends Described = never> =
  All extends readonly [infer First extends Described, ...infer Rest extends readonly Described[]]
    ? FirstOfEach<Rest, Names | ModelOf<First>['name'], Kept | OtherThan<First, Names>>
    : Kept | OtherThan<All[number], Names>
type OtherThan<D extends Described, Names> = D extends unknown ? ModelOf<D>['name'] extends Names ? never : D : never
/** The target of a foreign key: the client's resource of that model if there is one, otherwise the model itself. */
type Target<All, F> = F extends ForeignKeyField<infer M>
  ? M['name'] extends keyof All ? Extract<All[M['name']], Described> : M
  : never

/**
 * Further types that filters accept for a value, by the kind of the field. Filters on all fields accept the type that
 * the value has in JSON.
 */
interface WrittenValues {
  bigint: bigint
  datetime: Date
}
type Value<F extends Field> = ValueOf<F> | (F['kind'] extends keyof WrittenValues ? WrittenValues[F['kind']] : never)
/**
 * One value or several. If a filter has several, a record matches if any of them matches; with `ne`, if none is equal.
 */
type OneOrMore<T> = T | readonly T[]

/**
 * The types of a filter's value, by the syntax of its operator: `value` for `eq` and comparisons, `list` for `in`,
 * `pattern` for `like` and `ilike`, `constant` for `is`.
 */
interface Operands<F extends Field> {
  value: OneOrMore<Value<F>>
  list: ReadonlyArray<Value<F>>
  pattern: OneOrMore<string>
  constant: OneOrMore<null | 'notnull' | (F['kind'] extends 'boolean' ? boolean : never)>
}
type OperatorOf<F extends Field> = KindOperators[OperatorKindOf<F>]
type Operand<F, O> = F extends Field ? O extends OperatorOf<F> ? Operands<F>[OperatorSyntax[O]] : never : never

/** The type of a filter's value, by the name of the filter: `user__age__gte`. `never` if there is no such filter. */
type Filter<All, C, Path, Joins extends readonly unknown[] = MaxJoins> =
  Path extends keyof C ? Operand<C[Path], 'eq'>
    : Path extends `${infer First}__${infer Rest}` ? First extends keyof C
      ? Rest extends Operator ? Operand<C[First], Rest>
        : C[First] extends ForeignKeyField
          ? Joins extends readonly [unknown, ...infer Left]
            ? Filter<All, Columns<Target<All, C[First]>>, Rest, Left>
            : never
          : never
      : never
      : never

/**
 * The type of the value of a filter by a path that the option `filterable` lists. The filter is permitted even if
 * another resource excludes the field at the end of the path. `never` for any other filter.
 */
type Opened<D extends Described, Path> =
  Path extends Listed<D, 'filterable'> ? Filter<{}, Columns<ModelOf<D>>, Path>
    : Path extends `${Listed<D, 'filterable'>}__${Operator}` ? Filter<{}, Columns<ModelOf<D>>, Path> : never

type FilterOrUnknown<Name, F> = [F] extends [never] ? UnknownParameter<Name> : F | undefined

type Orderable<C extends ColumnSet> =
  { [N in keyof C & string]: C[N]['kind'] extends 'compositeKey' ? N : 'lt' extends OperatorOf<C[N]> ? N : never }[
    keyof C & string]
type Ordering<Name extends string> = Name | `-${Name}`

/** The parameters of a list that are not filters. */
export type Paging<D extends Described> = {
  /** Fields to order by: ascending, or descending if the name begins with `-`. */
  readonly ordering?: OneOrMore<Ordering<Orderable<Columns<D>>>> | undefined
  /**
   * Related records to put into each record. Each text is a path of foreign keys, by their declared names and joined by
   * `__`: `['user', 'user__company']`.
   */
  readonly include?: ReadonlyArray<IncludeName<D>> | undefined
  /** Records per page. Above the maximum of the resource, the answer is 400. */
  readonly limit?: number | undefined
  /** Number of the page, counted from 1. */
  readonly page?: number | undefined
  /**
   * The cursor in a link `next`, in place of `page`. An empty text asks for the first page. The link `next` in the
   * answer has a cursor, too, if the server can make one. Otherwise it has a page number, for example if the list is
   * ordered by a field that records do not show.
   */
  readonly after?: string | undefined
} & Counting & Searching<D>

/**
 * Parameter `count` of a list. If it is true, `meta.count` is the number of records on all pages. If `meta.capped` is
 * true, there are more records than `meta.count`.
 */
type Counting = { readonly count?: true | undefined }

/** Parameter `search` of a list. Its type has it only if the resource has the option `search`. */
type Searching<D extends Described> = [Listed<D, 'search'>] extends [never]
  ? {}
  : {
      /** Words that must each occur in one of the fields that the resource searches. */
      readonly search?: string | undefined
    }

/** Names of parameters of lists. A filter on a field with such a name needs an operator: `limit__eq`. */
export type Reserved = 'limit' | 'page' | 'after' | 'ordering' | 'include' | 'count' | 'search'

/** The names of filters on the resource's own fields, with all operators. */
type Direct<C extends ColumnSet> = {
  [N in keyof C & string]: ('eq' extends OperatorOf<C[N]> ? N : never) | `${N}__${OperatorOf<C[N]>}`
}[keyof C & string]
/** The names of filters through one foreign key. */
type Joined<All, C extends ColumnSet> = {
  [N in keyof C & string]: C[N] extends ForeignKeyField ? `${N}__${Direct<Columns<Target<All, C[N]>>>}` : never
}[keyof C & string]

/**
 * Names of the filters on own fields, and of those through one foreign key, with all operators. {@link Checked} and the
 * server also accept filters through more foreign keys. A field with a name in {@link Reserved} needs an operator.
 */
type Names<D extends Described, All> = Exclude<Direct<Columns<D>> | Joined<All, Columns<D>>, Reserved>

/**
 * The type of a variable that holds a query. It has only the parameters that the types can list: paging, filters on own
 * fields, and filters through one foreign key.
 */
export type ListQuery<D extends Described, All = {}> = Paging<D> & {
  readonly [Name in Names<D, All>]?: Filter<All, Columns<D>, Name> | undefined
}

/**
 * A query with parameters of any names and values, which {@link Checked} then checks. Some names are listed here only
 * so that editors suggest them. `object` also permits a query whose type is an interface.
 */
export type AnyQuery<D extends Described, All> =
  { readonly [Name in Names<D, All> | keyof Paging<D>]?: unknown } | object

/**
 * A query in which each value must have the type of its parameter. A parameter that does not exist gets a type that no
 * value fits: {@link UnknownParameter}.
 */
export type Checked<Query, D extends Described, All> = {
  readonly [Name in keyof Query]: Name extends keyof Paging<D>
    ? Paging<D>[Name]
    : Name extends Reserved
      ? UnknownParameter<Name>
      : FilterOrUnknown<Name, Filter<All, Columns<D>, Name> | Opened<D, Name>>
}
