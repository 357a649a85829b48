import type { JsonSchema } from '../../schemas/documentation.js'
import { isSecret } from '../model/column.js'
import { reads, rowOf, type Operation } from '../policy/operations.js'
import type { Resource } from '../resource/resource.js'
import { shareSchema, type OpenApiDocument } from './document.js'
import { failureBase, failureResponse, failures, failureSchema, refusal, type Failure } from './failures.js'
import { operationTexts } from './operation-texts.js'

/**
 * An operation, and a reference to the schema of its answer on success. `body` is undefined if that answer has no body.
 */
export interface Answered {
  readonly operation: Operation
  readonly body: JsonSchema | undefined
}

/** Returns all answers of an operation by status, also those that depend on the policy and on the resource. */
export function responsesOf (
  document: OpenApiDocument, resource: Resource, { operation, body }: Answered
): Readonly<Record<string, JsonSchema>> {
  const protection = resource.protections[operation]
  const responses: Record<string, JsonSchema> = {}
  const { success: description, headers } = operationTexts[operation]
  responses[rowOf(operation).status] = {
    description,
    ...(headers && { headers }),
    ...(body ? { content: { 'application/json': { schema: body } } } : { type: 'null' })
  }
  if (protection !== 'open') responses[401] = refusal
  const base = shareSchema(document, failureBase.name, failureBase.schema)
  for (const name of failuresOf(resource, operation)) {
    responses[failures[name].status] = failureResponse(name, shareSchema(document, name, failureSchema(name, base)))
  }
  return responses
}

/** Returns the failures of an operation in the order in which a request meets them: before, at and after the policy. */
function failuresOf (
  { protections, writable }: Resource, operation: Operation
): readonly Failure[] {
  const { failures: own } = operationTexts[operation]
  const before: Failure[] = reads.includes(operation)
    ? ['InternalError']
    : ['InternalError', 'Forbidden', 'BodyTooLarge', 'InvalidContentType']
  const isHashed = rowOf(operation).takes !== undefined && [...writable].some(isSecret)
  const login: Failure[] = protections[operation] === 'open' ? [] : ['Forbidden', 'TooManyLogins']
  return [...before, ...login, ...(isHashed ? ['TooManyLogins'] as const : []), ...own]
}
