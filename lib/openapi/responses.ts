import type { JsonSchema } from '../../schemas/documentation.js'
import { isSecret } from '../model/column.js'
import { reads, type Operation } from '../policy/policy.js'
import type { Resource } from '../resource/resource.js'
import { shareSchema, type OpenApiDocument } from './document.js'
import { failureBase, failureResponse, failures, failureSchema, refusal, type Failure } from './failures.js'
import { operationTable } from './operations.js'

/** An operation, and a reference to the schema of what it answers if it succeeds, unless it answers nothing. */
export interface Answered {
  readonly operation: Operation
  readonly body: JsonSchema | undefined
}

/** All that an operation can answer, by status: what depends on the policy and on the resource as well. */
export function responsesOf (document: OpenApiDocument, resource: Resource, { operation, body }: Answered): Readonly<Record<string, JsonSchema>> {
  const { registration: { policy: { open, closed } } } = resource
  const responses: Record<string, JsonSchema> = {}
  if (closed?.includes(operation) !== true) {
    const { success: { status, description, headers } } = operationTable[operation]
    responses[status] = { description, ...(headers && { headers }), ...(body ? { content: { 'application/json': { schema: body } } } : { type: 'null' }) }
  }
  if (!open.includes(operation)) responses[401] = refusal
  const base = shareSchema(document, failureBase.name, failureBase.schema)
  for (const name of failuresOf(resource, operation)) {
    responses[failures[name].status] = failureResponse(name, shareSchema(document, name, failureSchema(name, base)))
  }
  return responses
}

const pathStatuses: ReadonlySet<number> = new Set([400, 414])

/** In the order in which a request meets them: before the policy, at the policy, behind it. */
function failuresOf ({ registration: { policy }, write: { writable } }: Resource, operation: Operation): readonly Failure[] {
  const before: Failure[] = reads.includes(operation) ? ['InternalError'] : ['InternalError', 'Forbidden', 'BodyTooLarge', 'InvalidContentType']
  // Even what nobody may do has a path, which Fastify may refuse.
  if (policy.closed?.includes(operation)) return [...before, ...operationTable[operation].failures.filter((name) => pathStatuses.has(failures[name].status))]
  const isHashed = operationTable[operation].takes !== undefined && [...writable].some(isSecret)
  const login: Failure[] = policy.open.includes(operation) ? [] : ['Forbidden', 'TooManyLogins']
  return [...before, ...login, ...(isHashed ? ['TooManyLogins'] as const : []), ...operationTable[operation].failures]
}
