import type { JsonSchema } from '../../schemas/documentation.js'
import { errors } from '../errors.js'
import { isSecret } from '../model/column.js'
import { reads, rowOf, writes, type Operation } from '../policy/operations.js'
import { knowsUsers } from '../policy/policies.js'
import type { SecurityScheme } from '../policy/policy.js'
import { challengeOf, isBasic } from '../policy/refusal.js'
import { isPrivate } from '../policy/visibility.js'
import type { Resource } from '../resource/resource.js'
import { conditionalAnswers } from './conditional.js'
import { shareSchema, type OpenApiDocument } from './document.js'
import { failureBase, failureResponse, failures, failureSchema, type Failure } from './failures.js'
import { hookedResponse, hookRefusal } from './hook-refusals.js'
import { operationTexts } from './operation-texts.js'

/**
 * An operation, and a reference to the schema of its answer on success. `body` is undefined if that answer has no body.
 */
export interface Answered {
  readonly operation: Operation
  readonly body: JsonSchema | undefined
}

/** Describes all answers of an operation by status, including those that depend on the policy and on the resource. */
export function responsesOf (
  document: OpenApiDocument, resource: Resource, { operation, body }: Answered
): Readonly<Record<string, JsonSchema>> {
  const responses: Record<string, JsonSchema> = {}
  const { success: description, headers: own } = operationTexts[operation]
  const conditional = conditionalAnswers(resource, operation)
  const headers = { ...own, ...conditional.headers }
  responses[rowOf(operation).status] = {
    description,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body ? { content: { 'application/json': { schema: body } } } : { type: 'null' })
  }
  Object.assign(responses, conditional.responses)
  const base = shareSchema(document, failureBase.name, failureBase.schema)
  const mayRefuse = resource.protections[operation] !== 'open' || knowsUsers(resource.policy)
  if (mayRefuse && isPrivate(resource, operation)) responses[401] = refusalOf(document, resource, base)
  const isHooked = resource.hooked !== undefined && writes.includes(operation)
  for (const name of failuresOf(resource, operation)) {
    const ref = shareSchema(document, name, failureSchema(name, base))
    responses[failures[name].status] = isHooked ? hookedResponse(name, ref, base) : failureResponse(name, ref)
  }
  return isHooked ? { ...responses, default: hookRefusal(base) } : responses
}

function refusalOf (document: OpenApiDocument, { policy: { scheme } }: Resource, base: JsonSchema): JsonSchema {
  const ref = isBasic(scheme)
    ? base
    : shareSchema(document, 'AuthenticationFailed', failureSchema('AuthenticationFailed', base))
  return refusalResponse(scheme, ref)
}

/**
 * Describes the answer with 401. For HTTP Basic, and without a scheme, it is that of the service document, "Refusal
 * response (401)", whose body is a text. For any other scheme, the body is JSON, as in other failures.
 */
function refusalResponse (scheme: SecurityScheme | undefined, ref: JsonSchema): JsonSchema {
  const { description } = failures.AuthenticationFailed
  const headers = { 'WWW-Authenticate': { type: 'string', enum: [challengeOf(scheme)] } }
  const text = { type: 'string', enum: [new errors.AuthenticationFailed().message] }
  const content = isBasic(scheme) ? { 'text/html': { schema: text } } : { 'application/json': { schema: ref } }
  return { description, headers, content }
}

/**
 * Returns all failures of an operation, except the 401: those before the policy is asked, the refusal by the policy,
 * and those after it has permitted the operation. A failure may be listed twice.
 */
function failuresOf (resource: Resource, operation: Operation): readonly Failure[] {
  const { protections, writable } = resource
  const { failures: own } = operationTexts[operation]
  const before: Failure[] = reads.includes(operation)
    ? ['InternalError']
    : ['InternalError', 'Forbidden', 'BodyTooLarge', 'InvalidContentType']
  const isHashed = rowOf(operation).takes !== undefined && [...writable].some(isSecret)
  const mayForbid: Failure[] = protections[operation] === 'open' ? [] : ['Forbidden']
  const login: Failure[] = isPrivate(resource, operation) ? [...mayForbid, 'TooManyLogins'] : []
  const { failures: conditional } = conditionalAnswers(resource, operation)
  return [...before, ...login, ...(isHashed ? ['TooManyLogins'] as const : []), ...own, ...conditional]
}
