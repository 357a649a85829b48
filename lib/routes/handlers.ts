import type { FastifyReply, FastifyRequest } from 'fastify'
import { runCount, type Count } from '../database/count.js'
import { runList, type Page } from '../database/list.js'
import type { LockedRecord } from '../database/locked-record.js'
import { readVisible } from '../database/read.js'
import { runCreate, runDelete, runUpdate } from '../database/write.js'
import type { MaybePromise, Outcome, Row } from '../engines/executor.js'
import { errors } from '../errors.js'
import type { Column } from '../model/column.js'
import { writeCursor } from '../plan/cursor.js'
import { planList } from '../plan/plan-list.js'
import { changesNothing, untouchedSince } from '../plan/plan-update.js'
import { planGuardedCreate, planGuardedUpdate, type GuardedPlan } from '../plan/plan-guarded-write.js'
import type { WritePlan } from '../plan/plan-write.js'
import type { Scope } from '../plan/viewer.js'
import { userOf } from '../policy/guard.js'
import { operationTable } from '../policy/operations.js'
import { ownerIdOf, storedOf } from '../policy/owner.js'
import { listViewerOf, viewerOf } from '../policy/visibility.js'
import { parseListQuery } from '../request/list-query.js'
import { parsePatch, parsePayload, type Payload } from '../request/payload.js'
import { requireNoQuery } from '../request/query-string.js'
import type { Resource } from '../resource/resource.js'
import { toEnvelope, type ListEnvelope } from '../response/envelope.js'
import { valueOf, type ModelRecord } from '../response/record.js'
import { isPromise, type Json } from '../values/values.js'
import { answerRead, requireMatch, tagged } from './conditional.js'
import { readWithQuery } from './including.js'
import {
  createWithHooks, deleteLocked, repeatDelete, repeatUpdate, targetWithoutHooks, updateLocked, type OwnedRecord,
  type UnhookedRequest
} from './transacted-writes.js'

/** Returns the handler of a route for a resource. The handler gets only the requests that the policy lets through. */
export type Handler<Answer> =
  (resource: Resource) => (request: FastifyRequest, reply: FastifyReply) => MaybePromise<Answer>

/**
 * Validator of the plugin's routes, which accepts every request. The handlers validate requests themselves, so that
 * refusals come in the right order; the schemas of the routes are for documentation.
 */
export const acceptAnything = (): true => true

export const list: Handler<ListEnvelope> = (resource) => (request) => {
  const { reader, limits, maxLimit, name, url, queryOf, toListed, included } = resource
  const wanted = parseListQuery(queryOf(request.url), limits.queryLength, maxLimit)
  const plan = planList(resource, wanted, listViewerOf(request, resource))
  const layout = plan.includes.length === 0 ? undefined : included.layoutOf(plan.includes)
  const toAnswer = ({ rows, capacity, hasNext, last }: Page, total?: Count): ListEnvelope => {
    const { limit, start } = plan
    const cursor = last && writeCursor({ ...plan, limit: capacity }, last, reader.dialect)
    const links = { name, url, limit, capacity, start, hasNext, cursor, limits, total }
    return toEnvelope(rows.map(layout?.toRecord ?? toListed), links, wanted)
  }
  const page = runList(reader, layout?.base ?? resource, plan)
  if (wanted.counts) return countedBy(page, (page) => runCount(reader, resource, plan, page), toAnswer)
  return isPromise(page) ? page.then((page) => toAnswer(page)) : toAnswer(page)
}

async function countedBy (
  found: MaybePromise<Page>, count: (page: Page) => Promise<Count>, toAnswer: (page: Page, total: Count) => ListEnvelope
): Promise<ListEnvelope> {
  const page = await found
  return toAnswer(page, await count(page))
}

export const read: Handler<ModelRecord | undefined> = (resource) => (request, reply) => {
  const { reader, parseKey, queryOf, toRead, tagOf } = resource
  const id = parseKey((request.params as { readonly id: unknown }).id, request.url)
  if (queryOf(request.url) !== '') return readWithQuery(request, reply, resource, id)
  const toAnswer = ({ row }: Outcome): ModelRecord | undefined => {
    if (row === undefined) throw new errors.RecordNotFound()
    return tagOf === undefined ? toRead(row) : answerRead(request, reply, tagOf, toRead(row))
  }
  const found = readVisible(reader, resource, { id, scope: viewerOf(request, resource).scope })
  return isPromise(found) ? found.then(toAnswer) : toAnswer(found)
}

export const create: Handler<ModelRecord> = (resource) => (request, reply) => {
  const { url, queryOf, segmentOf, limits, toWritten, tagOf } = resource
  requireNoQuery(queryOf(request.url), limits.queryLength)
  const toAnswer = (row: Row): ModelRecord => {
    const record = toWritten(row)
    const { id } = record
    reply.code(operationTable.create.status)
    if (id !== null) reply.header('location', `${url}${segmentOf(String(id))}/`)
    return tagOf === undefined ? record : tagged(reply, tagOf, record)
  }
  const payload = parsePayload(request.body, request.headers['content-type'])
  const row = isPromise(payload)
    ? payload.then((payload) => createRow(resource, request, payload))
    : createRow(resource, request, payload)
  return isPromise(row) ? row.then(toAnswer) : toAnswer(row)
}

function createRow (resource: Resource, request: FastifyRequest, payload: Payload): MaybePromise<Row> {
  const { engine, passwords, hooked } = resource
  const viewer = viewerOf(request, resource)
  const planned = planGuardedCreate(resource, payload, viewer, userOf(request)?.id ?? null)
  if (hooked !== undefined) return createWithHooks({ resource, target: hooked, request, viewer }, planned)
  const plan = passwords.hashIn(planned.plan)
  return isPromise(plan)
    ? plan.then((plan) => runCreate(engine, resource, plan, planned.guard))
    : runCreate(engine, resource, plan, planned.guard)
}

export const update: Handler<ModelRecord> = (resource) => (request, reply) => {
  const { limits, queryOf, toWritten, tagOf } = resource
  const requireUnchanged = requireMatch(request, resource, storedOf(request).row)
  requireNoQuery(queryOf(request.url), limits.queryLength)
  const toAnswer = (row: Row): ModelRecord =>
    tagOf === undefined ? toWritten(row) : tagged(reply, tagOf, toWritten(row))
  const parse = request.method === 'PATCH' ? parsePatch : parsePayload
  const payload = parse(request.body, request.headers['content-type'])
  const row = isPromise(payload)
    ? payload.then((payload) => updateRow(resource, request, payload, requireUnchanged))
    : updateRow(resource, request, payload, requireUnchanged)
  return isPromise(row) ? row.then(toAnswer) : toAnswer(row)
}

function updateRow (
  resource: Resource, request: FastifyRequest, payload: Payload, requireUnchanged: LockedRecord['requireUnchanged']
): MaybePromise<Row> {
  const { engine } = resource
  const { id, row: stored, viewer } = storedOf(request)
  const storedValue = (column: Column): Json | undefined => valueOf(column, stored, engine.dialect)
  const planned = planGuardedUpdate(resource, payload, viewer, storedValue)
  // Without a precondition, equal values are written, too, because somebody else may have changed the record since it
  // was read.
  const isSame = requireUnchanged !== undefined && changesNothing(resource, planned.plan, storedValue)
  if (planned.plan.size === 0 || isSame) return stored
  const record = { id, scope: viewer.scope, ownerId: ownerIdOf(request, resource), requireUnchanged }
  const target = resource.hooked ?? (requireUnchanged && targetWithoutHooks(resource))
  if (target !== undefined) return updateLocked({ resource, target, request, viewer }, planned, record)
  return updateUnlocked({ resource, request, viewer }, planned, record, untouchedSince(resource, storedValue))
}

/** Updates without a transaction, and again with one if no record met the conditions. */
function updateUnlocked (
  write: UnhookedRequest, planned: GuardedPlan, record: OwnedRecord, unchanged: Scope
): MaybePromise<Row> {
  const { resource: { engine, passwords }, resource } = write
  const run = (plan: WritePlan): MaybePromise<Row | undefined> =>
    runUpdate(engine, resource, { id: record.id, ownerId: record.ownerId, plan, guard: planned.guard, unchanged })
  const orRepeat = (row: Row | undefined): MaybePromise<Row> => row ?? repeatUpdate(write, planned, record)
  const plan = passwords.hashIn(planned.plan)
  const row = isPromise(plan) ? plan.then(run) : run(plan)
  return isPromise(row) ? row.then(orRepeat) : orRepeat(row)
}

export const remove: Handler<undefined> = (resource) => async (request, reply) => {
  const { engine, limits, queryOf } = resource
  const { id, row, viewer } = storedOf(request)
  const requireUnchanged = requireMatch(request, resource, row)
  requireNoQuery(queryOf(request.url), limits.queryLength)
  const record = { id, scope: viewer.scope, ownerId: ownerIdOf(request, resource), requireUnchanged }
  // A trigger may replace the delete by an update. Only under a lock is it certain that nobody else made the update. On
  // SQLite a trigger may also refuse by raise(fail), which undoes what the statement did only in a transaction.
  const isLocked = requireUnchanged !== undefined || resource.statements.locksDeletes
  const target = resource.hooked ?? (isLocked ? targetWithoutHooks(resource) : undefined)
  if (target !== undefined) await deleteLocked({ resource, target, request, viewer }, record)
  else if (!await runDelete(engine, resource, record)) await repeatDelete({ resource, request, viewer }, record)
  reply.code(operationTable.delete.status)
}

export const refuseMethod = (allowed: string) =>
  async (_request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    reply.header('allow', allowed)
    throw new errors.MethodNotAllowed()
  }
