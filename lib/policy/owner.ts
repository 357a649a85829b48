import type { FastifyRequest } from 'fastify'
import { errors } from '../errors.js'
import type { Column } from '../model/column.js'
import { run, type Engine, type Row } from '../query/engine.js'
import type { WriteTarget } from '../query/write.js'
import { parseKey } from '../request/key.js'
import { userOf } from './guard.js'

/** Where a request keeps the record that it is about to change or delete. */
export const kStored = Symbol('rest-models.stored')

/** The record that a request is about to change or delete, as it was when the request was admitted. */
export function storedOf (request: FastifyRequest): Row {
  return request.getDecorator<Row>(kStored)
}

/** A preHandler hook: 404 if there is no such record, 403 if it has an owner and somebody else wants to write it. */
export function recordHook (engine: Engine, target: WriteTarget): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const { id } = request.params as { readonly id: string }
    const row = await requireOwn(engine, target, { id: parseKey(id), userId: userOf(request)?.id })
    request.setDecorator(kStored, row)
  }
}

/**
 * A write that found nothing to write although its request was admitted: tells why.
 *
 * @throws REST_MODELS_RECORD_NOT_FOUND (404), REST_MODELS_FORBIDDEN (403); REST_MODELS_CONSTRAINT (409) if neither is
 *   so, and a trigger of the database kept the record as it is
 */
export async function refuseLost (engine: Engine, target: WriteTarget, who: Claim): Promise<never> {
  await requireOwn(engine, target, who)
  throw new errors.Constraint()
}

interface Claim {
  readonly id: number
  readonly userId: number | undefined
}

async function requireOwn (engine: Engine, { shape, statements }: WriteTarget, { id, userId }: Claim): Promise<Row> {
  const { rows: [row] } = await run(engine, statements.stored(id))
  if (row === undefined) throw new errors.RecordNotFound()
  if (!isOwn(row, shape.owner, userId)) throw new errors.Forbidden()
  return row
}

function isOwn (row: Row, owner: Column | undefined, userId: number | undefined): boolean {
  return owner === undefined || (userId !== undefined && row[owner.key] === userId)
}
