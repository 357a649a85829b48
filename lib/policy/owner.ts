import type { FastifyRequest } from 'fastify'
import type { Engine } from '../database/engine.js'
import { readOwned, readStored } from '../database/read.js'
import type { WriteTarget } from '../database/write.js'
import type { MaybePromise, Outcome, Row } from '../engines/executor.js'
import { errors } from '../errors.js'
import { decodeIn, valueKindOf } from '../model/column.js'
import type { ParseKey } from '../model/key.js'
import { isShownAs } from '../plan/plan-update.js'
import { acceptId, whyNoOwner } from '../plan/plan-write.js'
import type { ScopedRecord } from '../plan/record-guard.js'
import type { Viewer } from '../plan/viewer.js'
import { isPromise, type RecordKey } from '../values/values.js'
import { userOf, type Step } from './guard.js'
import type { AnyPolicy, Identity } from './policy.js'
import { viewerOf, type ResourceScopes } from './visibility.js'
import { warnOnce } from './warn-once.js'

/** Key under which a request keeps the record that it is about to change or delete. */
export const kStored = Symbol('rest-models.stored')

/** A record that a request is about to change or delete, its key, and what the sender of the request may see. */
export interface StoredRecord {
  readonly id: RecordKey
  readonly row: Row
  readonly viewer: Viewer
}

/** Returns the record that a request is about to change or delete, as {@link recordStep} read it before the handler. */
export function storedOf (request: FastifyRequest): StoredRecord {
  return request.getDecorator<StoredRecord>(kStored)
}

/** The parts of a resource that are needed to find a record, and to check its owner and its scope. */
export interface OwnedResource extends WriteTarget, ResourceScopes {
  readonly engine: Engine
  readonly policy: AnyPolicy
  readonly parseKey: ParseKey
}

/**
 * Returns a step that reads the record for {@link storedOf}. The step refuses with 404 if the record does not exist or
 * the user may not see it, and with 403 if the resource has an owner field and the user is not the owner.
 */
export function recordStep (resource: OwnedResource): Step {
  return (request) => {
    const keep = (stored: StoredRecord): undefined => { request.setDecorator(kStored, stored) }
    const stored = readOwnRecord(request, resource)
    return isPromise(stored) ? stored.then(keep) : keep(stored)
  }
}

/**
 * Reads the record that the path of a request names, as {@link readRecord} does, for a write.
 *
 * @throws REST_MODELS_FORBIDDEN (403) if the resource has an owner field and the user is not the owner
 */
export function readOwnRecord (request: FastifyRequest, resource: OwnedResource): MaybePromise<StoredRecord> {
  const requireOwn = (stored: StoredRecord): MaybePromise<StoredRecord> => {
    const { id, row, viewer: { scope } } = stored
    const checked = requireOwner(resource, row, { id, scope, ownerId: ownerIdOf(request, resource) })
    return isPromise(checked) ? checked.then(() => stored) : stored
  }
  const stored = readRecord(request, resource)
  return isPromise(stored) ? stored.then(requireOwn) : requireOwn(stored)
}

/**
 * Reads the record that the path of a request names.
 *
 * @throws REST_MODELS_RECORD_NOT_FOUND (404) if the record does not exist, or if the user may not see it
 */
export function readRecord (request: FastifyRequest, resource: OwnedResource): MaybePromise<StoredRecord> {
  const id = resource.parseKey((request.params as { readonly id: unknown }).id, request.url)
  const viewer = viewerOf(request, resource)
  const toStored = ({ row }: Outcome): StoredRecord => {
    if (row === undefined) throw new errors.RecordNotFound()
    return { id, row, viewer }
  }
  const found = readStored(resource.engine, resource, { id, scope: viewer.scope })
  return isPromise(found) ? found.then(toStored) : toStored(found)
}

/**
 * Returns the id of the user who sends a request, in the form that the owner field holds. It is null if nobody is
 * logged in, if the resource has no owner field, or, with a warning in the log, if the id is not a valid key of the
 * model that the owner field refers to.
 */
export function ownerIdOf (request: FastifyRequest, { owner }: Pick<WriteTarget, 'owner'>): RecordKey | null {
  const id = userOf<Identity>(request)?.id
  if (owner === undefined || id === undefined) return null
  const accepted = acceptId(owner, id)
  if (accepted !== undefined) return accepted
  warnOnce(request.log, owner, whyNoOwner(owner, id))
  return null
}

/**
 * Reads a record again that a write has not found or not written, although {@link recordStep} had admitted its request.
 *
 * @throws REST_MODELS_RECORD_NOT_FOUND (404) if the record was deleted or left the scope meanwhile;
 *   REST_MODELS_FORBIDDEN (403) if it has another owner now
 */
export async function requireStillOwn (resource: OwnedResource, record: ScopedRecord): Promise<void> {
  const { row } = await readStored(resource.engine, resource, record)
  if (row === undefined) throw new errors.RecordNotFound()
  await requireOwner(resource, row, record)
}

/**
 * Throws REST_MODELS_FORBIDDEN (403) if the resource has an owner field and the user is not the owner of a record. If
 * the owner is a UUID that is stored in capitals, the database decides, because its collation may ignore case.
 */
function requireOwner (resource: OwnedResource, row: Row, record: ScopedRecord): MaybePromise<void> {
  const { owner, engine: { dialect } } = resource
  if (owner === undefined) return
  const { ownerId = null } = record
  const stored = decodeIn(row, owner, dialect)
  if (ownerId === null || !isShownAs(ownerId, valueKindOf(owner).storage, stored)) throw new errors.Forbidden()
  if (stored !== ownerId) return requireFound(readOwned(resource.engine, resource, record))
}

async function requireFound (found: MaybePromise<Outcome>): Promise<void> {
  const { row } = await found
  if (row === undefined) throw new errors.Forbidden()
}
