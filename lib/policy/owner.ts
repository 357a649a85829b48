import type { FastifyRequest } from 'fastify'
import type { Engine } from '../database/engine.js'
import { readStored, type WriteTarget } from '../database/write.js'
import type { Row } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import { errors } from '../errors.js'
import { decode } from '../model/column.js'
import type { PlanKey } from '../plan/plan-key.js'
import type { RecordKey } from '../values/values.js'
import { userOf } from './guard.js'
import type { PolicyUser } from './policy.js'

/** Key under which a request keeps the record that it is about to change or delete. */
export const kStored = Symbol('rest-models.stored')

/** Returns the record that a request is about to change or delete, as {@link recordHook} read it before the handler. */
export function storedOf (request: FastifyRequest): Row {
  return request.getDecorator<Row>(kStored)
}

/**
 * Returns a preHandler hook that reads the record for {@link storedOf}. It answers 404 if there is no such record, and
 * 403 if the resource has an owner field and the user is not the owner.
 */
export function recordHook (
  engine: Engine, target: WriteTarget & { readonly planKey: PlanKey }
): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const { id } = request.params as { readonly id: string }
    const { row } = await readStored(engine, target, target.planKey(id))
    if (row === undefined) throw new errors.RecordNotFound()
    if (!isOwn(engine, row, { target, user: userOf(request) })) throw new errors.Forbidden()
    request.setDecorator(kStored, row)
  }
}

/**
 * Returns the reason why a write found nothing to write although its request was admitted.
 *
 * @returns REST_MODELS_RECORD_NOT_FOUND (404) if the record was deleted meanwhile; REST_MODELS_FORBIDDEN (403) if it
 *   has another owner now; otherwise REST_MODELS_CONSTRAINT (409), because a trigger of the database keeps the record
 *   as it is
 */
export async function explainLost (engine: Engine, target: WriteTarget, { id, user }: Claim): Promise<Error> {
  const { row } = await readStored(engine, target, id)
  if (row === undefined) return new errors.RecordNotFound()
  return isOwn(engine, row, { target, user }) ? new errors.Constraint() : new errors.Forbidden()
}

/** A record and the user who wants to write it. */
interface Claim {
  readonly id: RecordKey
  readonly user: PolicyUser | null
}

function isOwn (
  { dialect }: Engine, row: Row, { target, user }: { readonly target: WriteTarget, readonly user: PolicyUser | null }
): boolean {
  const { owner } = target
  return owner === undefined || (user !== null && decode(owner, row[owner.key] as Stored, dialect) === user.id)
}
