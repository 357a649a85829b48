import type { FastifyReply, FastifyRequest } from 'fastify'
import { runList } from '../database/list.js'
import { runCreate, runDelete, runUpdate } from '../database/write.js'
import { errors } from '../errors.js'
import { writeCursor } from '../plan/cursor.js'
import { planList } from '../plan/plan-list.js'
import { planCreate, planUpdate } from '../plan/plan-write.js'
import { modelsClosedTo, userOf } from '../policy/guard.js'
import { operationTable } from '../policy/operations.js'
import { explainLost, storedOf } from '../policy/owner.js'
import { parseListQuery } from '../request/list-query.js'
import { parsePayload } from '../request/payload.js'
import { queryOf, requireNoQuery } from '../request/query-string.js'
import type { Resource } from '../resource/resource.js'
import { toEnvelope, type ListEnvelope } from '../response/envelope.js'
import { valueOf, type ModelRecord } from '../response/record.js'
import type { RecordKey } from '../values/values.js'

/** Returns the handler of a route for a resource. The handler gets only the requests that the policy lets through. */
export type Handler<Answer> = (resource: Resource) => (request: FastifyRequest, reply: FastifyReply) => Promise<Answer>

export const list: Handler<ListEnvelope> = (resource) => async (request) => {
  const { reader, limits, name, url, toListed } = resource
  const wanted = parseListQuery(queryOf(request.url), limits.queryLength)
  const plan = planList(resource, wanted, modelsClosedTo(request, resource))
  const { rows, limit: count, hasNext, last } = await runList(reader, resource, plan)
  const { limit, start } = plan
  const cursor = last && writeCursor({ ...plan, limit: count }, last, reader.dialect)
  const links = { name, url, limit, count, start, hasNext, cursor, limits }
  return toEnvelope(rows.map(toListed), links, wanted)
}

export const read: Handler<ModelRecord> = (resource) => async (request) => {
  const { reader, statements, limits, toRead } = resource
  const { row } = await reader.executor.execute(statements.read(keyOf(request, resource)))
  if (row === undefined) throw new errors.RecordNotFound()
  requireNoQuery(queryOf(request.url), limits.queryLength)
  return toRead(row)
}

export const create: Handler<ModelRecord> = (resource) => async (request, reply) => {
  const { engine, passwords, url, limits, toWritten } = resource
  requireNoQuery(queryOf(request.url), limits.queryLength)
  const payload = await parsePayload(request.body, request.headers['content-type'])
  const plan = planCreate(resource, payload, userOf(request)?.id ?? null)
  const record = toWritten(await runCreate(engine, resource, await passwords.hashIn(plan)))
  reply.code(operationTable.create.status).header('location', `${url}${String(record['id'])}/`)
  return record
}

export const update: Handler<ModelRecord> = (resource) => async (request) => {
  const { engine, passwords, limits, toWritten } = resource
  requireNoQuery(queryOf(request.url), limits.queryLength)
  const payload = await parsePayload(request.body, request.headers['content-type'])
  const stored = storedOf(request)
  const plan = planUpdate(resource, payload, (column) => valueOf(column, stored, engine.dialect))
  if (plan.size === 0) return toWritten(stored)
  const id = keyOf(request, resource)
  const user = userOf(request)
  const row = await runUpdate(engine, resource, { id, plan: await passwords.hashIn(plan), ownerId: user?.id ?? null })
  if (row === undefined) throw await explainLost(engine, resource, { id, user })
  return toWritten(row)
}

export const remove: Handler<undefined> = (resource) => async (request, reply) => {
  const { engine, limits } = resource
  requireNoQuery(queryOf(request.url), limits.queryLength)
  const id = keyOf(request, resource)
  const user = userOf(request)
  const isDeleted = await runDelete(engine, resource, id, user?.id ?? null)
  if (!isDeleted) throw await explainLost(engine, resource, { id, user })
  reply.code(operationTable.delete.status)
}

export const refuseMethod = (allowed: string) =>
  async (_request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    reply.header('allow', allowed)
    throw new errors.MethodNotAllowed()
  }

function keyOf (request: FastifyRequest, { planKey }: Resource): RecordKey {
  return planKey((request.params as { readonly id: string }).id)
}
