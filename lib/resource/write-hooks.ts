import type { FastifyRequest } from 'fastify'
import type { HookDatabase } from '../database/hook-database.js'
import { errors } from '../errors.js'
import type { Field, KeyFieldOf, KeyOf } from '../model/field.js'
import type { Model } from '../model/define-model.js'
import type { Flat, KeptLiterals, Key, RecordOf } from '../model/types.js'
import type { AnyPolicy, Identity, Policy, ScopeUser } from '../policy/policy.js'
import type { ModelRecord } from '../response/record.js'
import type { RecordKey } from '../values/values.js'

type SecretKeys<M extends Model> = {
  [N in keyof M['fields'] & string]: M['fields'][N] extends Field<'password'> ? Key<N, M['fields'][N]> : never
}[keyof M['fields'] & string]

/** The key of a record. For a hook that serves all models, it is a number or a text. */
type OwnId<M extends Model> = { id: string extends M['name'] ? RecordKey : KeyOf<M> }

/** A record with every field, hidden ones too, except the hashes of passwords. */
export type WholeRecord<M extends Model> = OwnId<M> & Flat<Omit<RecordOf<M>, SecretKeys<M> | 'id'>>

/** The operation of a write, and the record before the write. A create has no such record. */
type Occasion<M extends Model> =
  { readonly operation: 'create', readonly stored: undefined } |
  { readonly operation: 'update' | 'delete', readonly stored: WholeRecord<M> }

/** The argument of `beforeWrite`. */
export type PlannedWrite<M extends Model = Model, Auth extends AnyPolicy = Policy> = Occasion<M> & {
  /**
   * The values to write, under the names that records have: all fields of a create that have a value, only the changed
   * ones of an update, none of a delete. A value for a hidden field always counts as changed. A password is not hashed
   * yet.
   */
  readonly values: Partial<OwnId<M> & Flat<Omit<RecordOf<M>, 'id'>>>
  /**
   * The user who sends the request. It can be null only if everybody may do the operation: it is then null if nobody is
   * logged in, or if the resource has no scope, because the policy then looks for no user.
   */
  readonly user: ScopeUser<Auth>
  readonly request: FastifyRequest
}

/** The argument of `afterWrite`. */
export type FinishedWrite<M extends Model = Model, Auth extends AnyPolicy = Policy> = Occasion<M> & {
  /** The record after the write; after a delete, the record that was deleted. */
  readonly record: WholeRecord<M>
  /**
   * The user who sends the request. It can be null only if everybody may do the operation: it is then null if nobody is
   * logged in, or if the resource has no scope, because the policy then looks for no user.
   */
  readonly user: ScopeUser<Auth>
  /** The transaction of the write. It ends when the hook ends. */
  readonly db: HookDatabase
}

/**
 * Code of the application that runs inside the writes of a resource. An update calls no hook if its body has no fields,
 * or only values that the record has already. A value for a hidden field always counts as a change.
 */
export interface WriteHooks<M extends Model = Model, Auth extends AnyPolicy = Policy> {
  /**
   * Called when a request is permitted and its body is valid, before the statement that writes. Returns values that are
   * written in addition, or in place of those of the client. The hook may set any field except the key, the owner,
   * those that only the database fills, and those for which the scope permits only one value. What it returns for a
   * delete is ignored. To refuse the write it throws `invalidRecord()`, or any error with a status.
   *
   * The hook is called before the transaction. If the record changes before it is locked, the hook is called again, in
   * the transaction. In such a further call on SQLite, a statement by the app's `db` would wait for this transaction
   * until the hook exceeds its time limit. Rules that no race may break belong in `afterWrite`, which has the
   * transaction as `db`.
   */
  readonly beforeWrite?: (write: PlannedWrite<M, Auth>) => HookValues<M> | Promise<HookValues<M>>
  /**
   * Called after the statement that writes, in its transaction. The write is rolled back if the hook throws, or if a
   * statement that it sends by `db` fails, even if the hook catches the error. The hook may be called again if the
   * transaction has to be repeated, so it should change nothing but the database. The answer has the record as the
   * write left it. It does not show later changes that the hook makes to the same row.
   */
  readonly afterWrite?: (write: FinishedWrite<M, Auth>) => unknown
}

/** Names, in a record, of its key and of the fields that make up the key. */
type KeyNames<M extends Model> = 'id' | { [N in KeyFieldOf<M>]: Key<N, M['fields'][N]> }[KeyFieldOf<M>]
type HookNames<M extends Model> = Exclude<keyof RecordOf<M>, KeyNames<M>>
type HookValues<M extends Model> =
  (Partial<Pick<RecordOf<M>, HookNames<M>>> & KeptLiterals<M, HookNames<M>>) | undefined | void

/** The arguments that both hooks get, without the types of a model and a policy. */
interface AnyWrite {
  readonly operation: Occasion<Model>['operation']
  readonly stored: ModelRecord | undefined
  readonly user: Identity | null
}

/** The hooks of a resource, whatever its model and policy. */
export interface AnyHooks {
  readonly beforeWrite?: (
    write: AnyWrite & { readonly values: ModelRecord, readonly request: FastifyRequest }
  ) => unknown
  readonly afterWrite?: (write: AnyWrite & { readonly record: ModelRecord, readonly db: HookDatabase }) => unknown
}

/**
 * Checks that the hooks in the options of a resource are functions.
 *
 * @returns the hooks; undefined if there are none
 * @throws REST_MODELS_INVALID_OPTIONS if a hook is not a function
 */
export function hooksOf (
  model: Model, options: Readonly<Partial<Record<keyof WriteHooks, unknown>>>
): AnyHooks | undefined {
  const { beforeWrite, afterWrite } = options
  for (const [name, hook] of Object.entries({ beforeWrite, afterWrite })) {
    if (hook !== undefined && typeof hook !== 'function') {
      throw new errors.InvalidOptions(`'${name}' of resource '${model.name}' must be a function`)
    }
  }
  if (beforeWrite === undefined && afterWrite === undefined) return undefined
  return Object.freeze({ beforeWrite, afterWrite } as AnyHooks)
}
