import type { FastifyReply, FastifyRequest } from 'fastify'
import { readIncluding, readVisible } from '../database/read.js'
import { errors } from '../errors.js'
import type { PlannedInclude } from '../plan/list-plan.js'
import { planIncludes } from '../plan/plan-include.js'
import type { ListViewer } from '../plan/viewer.js'
import { listViewerOf } from '../policy/visibility.js'
import { parseReadQuery } from '../request/include.js'
import type { Resource } from '../resource/resource.js'
import type { ModelRecord } from '../response/record.js'
import type { RecordKey } from '../values/values.js'
import { answerRead } from './conditional.js'

/**
 * Returns the answer to a read of one record whose URL has a query. If the record does not exist, the answer is 404,
 * even if the query is wrong. The result is undefined for a 304.
 */
export async function readWithQuery (
  request: FastifyRequest, reply: FastifyReply, resource: Resource, id: RecordKey
): Promise<ModelRecord | undefined> {
  const { reader, included, tagOf, toRead } = resource
  const viewer = listViewerOf(request, resource)
  const record = { id, scope: viewer.scope }
  const { includes, fault } = tryPlan(resource, resource.queryOf(request.url), viewer)
  if (includes.length === 0) {
    const { row } = await readVisible(reader, resource, record)
    if (row === undefined) throw new errors.RecordNotFound()
    if (fault !== undefined) throw fault
    return tagOf === undefined ? toRead(row) : answerRead(request, reply, tagOf, toRead(row))
  }
  const row = await readIncluding(reader, resource, record, includes)
  if (row === undefined) throw new errors.RecordNotFound()
  return included.layoutOf(includes).toRecord(row)
}

interface Attempt {
  readonly includes: readonly PlannedInclude[]
  readonly fault?: unknown
}

function tryPlan (resource: Resource, query: string, viewer: ListViewer): Attempt {
  try {
    const include = parseReadQuery(query, resource.limits.queryLength)
    return { includes: planIncludes(resource, { include, filters: [] }, viewer) }
  } catch (fault) {
    return { includes: [], fault }
  }
}
