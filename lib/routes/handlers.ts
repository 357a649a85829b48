import type { FastifyReply, FastifyRequest } from 'fastify'
import { runCount } from '../database/count.js'
import { runList } from '../database/list.js'
import { readVisible } from '../database/read.js'
import { runCreate, runDelete, runUpdate } from '../database/write.js'
import { errors } from '../errors.js'
import type { Column } from '../model/column.js'
import { writeCursor } from '../plan/cursor.js'
import { planList } from '../plan/plan-list.js'
import { changesNothing, untouchedSince } from '../plan/plan-update.js'
import { planGuardedCreate, planGuardedUpdate } from '../plan/plan-guarded-write.js'
import { userOf } from '../policy/guard.js'
import { operationTable } from '../policy/operations.js'
import { ownerIdOf, storedOf } from '../policy/owner.js'
import { listViewerOf, viewerOf } from '../policy/visibility.js'
import { parseListQuery } from '../request/list-query.js'
import { parsePatch, parsePayload } from '../request/payload.js'
import { requireNoQuery } from '../request/query-string.js'
import type { Resource } from '../resource/resource.js'
import { toEnvelope, type ListEnvelope } from '../response/envelope.js'
import { valueOf, type ModelRecord } from '../response/record.js'
import type { Json } from '../values/values.js'
import { answerRead, requireMatch, tagged } from './conditional.js'
import { readWithQuery, serializeBy } from './including.js'
import {
  createWithHooks, deleteLocked, repeatDelete, repeatUpdate, updateLocked, withoutHooks
} from './transacted-writes.js'

/** Returns the handler of a route for a resource. The handler gets only the requests that the policy lets through. */
export type Handler<Answer> = (resource: Resource) => (request: FastifyRequest, reply: FastifyReply) => Promise<Answer>

/**
 * Validator of the plugin's routes, which accepts every request. The handlers validate requests themselves, so that
 * refusals come in the right order; the schemas of the routes are for documentation.
 */
export const acceptAnything = (): true => true

export const list: Handler<ListEnvelope> = (resource) => async (request, reply) => {
  const { reader, limits, maxLimit, name, url, queryOf, toListed, included } = resource
  const wanted = parseListQuery(queryOf(request.url), limits.queryLength, maxLimit)
  const plan = planList(resource, wanted, listViewerOf(request, resource))
  const layout = plan.includes.length === 0 ? undefined : included.layoutOf(plan.includes)
  const page = await runList(reader, layout?.base ?? resource, plan)
  const total = wanted.counts ? await runCount(reader, resource, plan, page) : undefined
  const { rows, limit: count, hasNext, last } = page
  const { limit, start } = plan
  const cursor = last && writeCursor({ ...plan, limit: count }, last, reader.dialect)
  const links = { name, url, limit, count, start, hasNext, cursor, limits, total }
  if (layout === undefined) return toEnvelope(rows.map(toListed), links, wanted)
  serializeBy(reply, included.serializeList)
  return toEnvelope(rows.map(layout.toRecord), links, wanted)
}

export const read: Handler<ModelRecord | undefined> = (resource) => async (request, reply) => {
  const { reader, parseKey, queryOf, toRead, tagOf } = resource
  const id = parseKey((request.params as { readonly id: string }).id, request.url)
  if (queryOf(request.url) !== '') return await readWithQuery(request, reply, resource, id)
  const { row } = await readVisible(reader, resource, { id, scope: viewerOf(request, resource).scope })
  if (row === undefined) throw new errors.RecordNotFound()
  return tagOf === undefined ? toRead(row) : answerRead(request, reply, tagOf, toRead(row))
}

export const create: Handler<ModelRecord> = (resource) => async (request, reply) => {
  const { engine, passwords, url, queryOf, segmentOf, limits, toWritten, hooked, tagOf } = resource
  requireNoQuery(queryOf(request.url), limits.queryLength)
  const payload = await parsePayload(request.body, request.headers['content-type'])
  const viewer = viewerOf(request, resource)
  const planned = planGuardedCreate(resource, payload, viewer, userOf(request)?.id ?? null)
  const record = toWritten(hooked === undefined
    ? await runCreate(engine, resource, await passwords.hashIn(planned.plan), planned.guard)
    : await createWithHooks({ resource, hooked, request, viewer }, planned))
  reply.code(operationTable.create.status).header('location', `${url}${segmentOf(String(record['id']))}/`)
  return tagOf === undefined ? record : tagged(reply, tagOf, record)
}

export const update: Handler<ModelRecord> = (resource) => async (request, reply) => {
  const { engine, passwords, limits, queryOf, toWritten, tagOf } = resource
  const { id, row: stored, viewer } = storedOf(request)
  const requireUnchanged = requireMatch(request, resource, stored)
  requireNoQuery(queryOf(request.url), limits.queryLength)
  const parse = request.method === 'PATCH' ? parsePatch : parsePayload
  const payload = await parse(request.body, request.headers['content-type'])
  const storedValue = (column: Column): Json | undefined => valueOf(column, stored, engine.dialect)
  const planned = planGuardedUpdate(resource, payload, viewer, storedValue)
  const hooked = resource.hooked ?? (requireUnchanged && withoutHooks(resource))
  // Without a precondition, equal values are written, too, because somebody else may have changed the record since it
  // was read.
  const changes = planned.plan.size > 0 &&
    (requireUnchanged === undefined || !changesNothing(resource, planned.plan, storedValue))
  const record = { id, scope: viewer.scope, ownerId: ownerIdOf(request, resource), requireUnchanged }
  let row = stored
  if (changes && hooked !== undefined) row = await updateLocked({ resource, hooked, request, viewer }, planned, record)
  else if (changes) {
    const plan = await passwords.hashIn(planned.plan)
    const unchanged = untouchedSince(resource, storedValue)
    row = await runUpdate(engine, resource, { id, ownerId: record.ownerId, plan, guard: planned.guard, unchanged }) ??
      await repeatUpdate({ resource, request, viewer }, planned, record)
  }
  return tagOf === undefined ? toWritten(row) : tagged(reply, tagOf, toWritten(row))
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
  const hooked = resource.hooked ?? (isLocked ? withoutHooks(resource) : undefined)
  if (hooked !== undefined) await deleteLocked({ resource, hooked, request, viewer }, record)
  else if (!await runDelete(engine, resource, record)) await repeatDelete({ resource, request, viewer }, record)
  reply.code(operationTable.delete.status)
}

export const refuseMethod = (allowed: string) =>
  async (_request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    reply.header('allow', allowed)
    throw new errors.MethodNotAllowed()
  }
