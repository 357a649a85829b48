import type { KindOperators } from '../fields/field-kinds.js'
import type { OperatorSyntax } from '../fields/operators.js'
import type { Field, ForeignKeyField, KeyField, OperatorKindOf, ValueOf } from './field.js'
import type { Model } from './model.js'
import type { FieldNameOf, KeptLiterals, Key } from './types.js'

/** The fields of a model by each of their names: `user` also as `user_id`. */
type Columns<M extends Model> = string extends keyof M['fields']
  ? {}
  : { readonly [N in FieldNameOf<M> as N | Key<N, M['fields'][N]>]: M['fields'][N] } &
    { readonly id: KeyField<M> }

type OneOrMore<T> = T | readonly T[]
/** The type of a condition's value, by the syntax of its operator. */
interface Operands<F extends Field> {
  value: OneOrMore<ValueOf<F>>
  list: ReadonlyArray<ValueOf<F>>
  pattern: OneOrMore<string>
  constant: OneOrMore<null | 'notnull' | (F['kind'] extends 'boolean' ? boolean : never)>
}
/** The type of a condition's value without an operator, or with `eq`. */
type Equal<F> = F extends Field<'json'> ? null : F extends Field ? Operands<F>['value'] | null : never

/** Each field of `C` with each of its operators: `['name', 'like']`. */
type Operations<C> = {
  [N in keyof C & string]: C[N] extends Field
    ? { [O in KindOperators[OperatorKindOf<C[N]>]]: readonly [N, O] }[KindOperators[OperatorKindOf<C[N]>]] : never
}[keyof C & string]

/** Conditions on the fields `C`, as filters name them, each name with `Prefix` before it, such as `user__`. */
type Conditions<C, Prefix extends string> = {
  readonly [N in keyof C & string as C[N] extends Field<'password'> ? never : `${Prefix}${N}` | `${Prefix}${N}__eq`]?:
  Equal<C[N]>
} & {
  readonly [P in Operations<C> as P[1] extends 'eq' ? never : `${Prefix}${P[0]}__${P[1]}`]?:
  C[P[0]] extends Field ? Operands<C[P[0]]>[OperatorSyntax[P[1]]] : never
}

type ForeignKeys<C> = { [N in keyof C & string]: C[N] extends ForeignKeyField ? N : never }[keyof C & string]
type TargetOf<F> = F extends ForeignKeyField<infer Target> ? Target : never
type Intersection<Union> =
  (Union extends unknown ? (one: Union) => void : never) extends ((all: infer All) => void) ? All : never

/**
 * Conditions of a scope on fields of a related record, such as `project__owner`. If `More` is true, the type also has
 * conditions through a second foreign key, such as `project__team__owner`.
 */
type Joined<C, Prefix extends string, More extends boolean> = Intersection<{
  [N in ForeignKeys<C>]: Conditions<Columns<TargetOf<C[N]>>, `${Prefix}${N}__`> &
    (More extends true ? Joined<Columns<TargetOf<C[N]>>, `${Prefix}${N}__`, false> : {})
}[ForeignKeys<C>]>

/**
 * Conditions for the records of a model that a user may see, as filters: `{ company: 1, name__like: 'a%' }`. A user
 * sees the records that meet all conditions. An array means any of its values, with `ne` none of them. Null means that
 * the field is null. TypeScript checks names that follow up to two foreign keys. Longer names are checked at run time.
 */
export type ScopeOf<M extends Model> =
  KeptLiterals<M> & Conditions<Columns<M>, ''> & Joined<Columns<M>, '', true> &
  { readonly [further: `${string}__${string}__${string}__${string}`]: unknown }
