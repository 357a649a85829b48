import {
  bodyDocumentation, keyDocumentation, listDocumentation, plain, type JsonSchema
} from '../../schemas/documentation.js'
import { pageSchema } from '../../schemas/list.js'
import { rowOf, type Operation } from '../policy/operations.js'
import { knowsUsers } from '../policy/policies.js'
import type { Resource } from '../resource/resource.js'
import { parametersOf } from './conditional.js'
import { addTag, shareSchema, shareSecurity, type OpenApiDocument } from './document.js'
import { documentedFilters, type DocumentedFilters } from './filters.js'
import { includeParameter } from './include-parameter.js'
import { listParameters } from './list-parameters.js'
import { operationTexts, remarksOf } from './operation-texts.js'
import { shareRecord, titleOf } from './record-schema.js'
import { responsesOf } from './responses.js'
import { fixableBy } from '../policy/scope-fields.js'

/** Description of an operation, in the form in which `@fastify/swagger` takes it from a route. */
export type OperationDocumentation = Readonly<Record<string, unknown>>

interface DescribedOperation {
  readonly operation: Operation
  /** True for the update by PATCH, which does what the update by PUT does. */
  readonly isPatch: boolean
}

/**
 * Returns the description of an operation. Adds its tag to the document, and adds schemas that it may share with other
 * operations to the `components` of the document.
 */
export function describeOperation (
  document: OpenApiDocument, resource: Resource, { operation, isPatch }: DescribedOperation
): OperationDocumentation {
  const { name, model } = resource
  const { path, takes, answers } = rowOf(operation)
  const { summary, description } = operationTexts[operation]
  const list = operation === 'list' ? documentedFilters(resource, resource.closedModels) : undefined
  addTag(document, name, `Records of model ${model.name}`)
  return {
    summary: summary(name),
    description: [
      description,
      ...(isPatch ? [patchRemark] : []),
      ...remarksOf(operation, resource),
      ...(list === undefined ? [] : filterRemarks(list, resource))
    ].join('\n\n'),
    tags: [name],
    ...securityOf(document, resource, operation),
    ...(list ? { querystring: listParameters(document, resource, list.filters) } : readParameters(resource, operation)),
    ...(path === 'record' && { params: keyDocumentation(model), ...parametersOf(resource, operation) }),
    ...(takes && { body: bodyOf(document, resource, { takes, isPatch }) }),
    response: responsesOf(
      document, resource, { operation, body: answers && answerOf(document, resource, answers) })
  }
}

/**
 * Returns the id of an operation in a document, such as `listUser`. It depends only on the operation, the resource
 * and its model. If the document has that id already, `freeOperationId` puts a number after it.
 */
export function operationIdOf (resource: Resource, operation: Operation | 'patch'): string {
  return `${operation}${titleOf(resource)}`
}

const patchRemark = 'PATCH does what PUT does. A field that holds JSON is replaced as a whole, and a JSON Patch is ' +
  'refused.'

/**
 * Returns the query parameters of any operation except a list: `include` for a read. Returns an empty object if there
 * are none, so that the document has no empty list of parameters.
 */
function readParameters (resource: Resource, operation: Operation): JsonSchema {
  const properties = operation === 'read' ? includeParameter(resource) : {}
  return Object.keys(properties).length === 0 ? {} : { querystring: { type: 'object', properties } }
}

function filterRemarks ({ isCut }: DocumentedFilters, { limits, guardedModels }: Resource): string[] {
  return [
    ...(isCut
      ? ['There are more filters than are listed here: other fields have them too, and a filter may follow ' +
        `up to ${limits.joins} foreign keys, joined by \`__\`.`]
      : []),
    ...(guardedModels.size > 0
      ? ['Filters through a resource whose reading is protected are for those who may list it.']
      : [])
  ]
}

/**
 * Returns the security requirements of an operation. An operation that needs no user has none, with one exception. If
 * the resource has a scope and a policy that knows users, a login is optional, because the answer depends on the user.
 * If a login is required or optional, but the policy names no security scheme, returns an empty object. The security
 * requirements that the app sets for its whole document then apply.
 */
function securityOf (
  document: OpenApiDocument, { protections, policy, policy: { scheme }, scopeRule }: Resource, operation: Operation
): JsonSchema {
  const isOpen = protections[operation] === 'open'
  if (isOpen && (scopeRule === undefined || !knowsUsers(policy))) return { security: [] }
  if (scheme === undefined) return {}
  const { type, scheme: name = type } = scheme
  return { security: [...(isOpen ? [{}] : []), { [shareSecurity(document, String(name), scheme)]: [] }] }
}

function answerOf (document: OpenApiDocument, resource: Resource, body: 'record' | 'list'): JsonSchema {
  const record = shareRecord(document, resource)
  if (body === 'record') return record
  const page = shareSchema(document, 'Page', plain(pageSchema))
  return shareSchema(document, `${titleOf(resource)}List`, listDocumentation(page, record))
}

function bodyOf (
  document: OpenApiDocument, resource: Resource,
  { takes, isPatch }: { readonly takes: 'create' | 'update', readonly isPatch: boolean }
): JsonSchema {
  const { schemas, writable, creatable, excluded } = resource
  const fixable = fixableBy(resource)
  const required = (schemas[takes].required ?? []).filter((key) => !fixable.has(key))
  const isCreate = takes === 'create'
  const columns = { writable: [...(isCreate ? creatable : writable)], required, excluded, fillsDefaults: isCreate }
  const name = `${titleOf(resource)}${isCreate ? 'Create' : 'Update'}`
  const json = shareSchema(document, name, bodyDocumentation(columns))
  const form = shareSchema(document, 'Form', formSchema)
  return {
    content: {
      'application/json': { schema: json },
      ...(isPatch && { 'application/merge-patch+json': { schema: json } }),
      'application/x-www-form-urlencoded': { schema: form },
      'multipart/form-data': { schema: form }
    }
  }
}

const formSchema: JsonSchema = {
  type: 'object',
  properties: { data: { type: 'string', description: 'The JSON text of the body' } },
  required: ['data'],
  additionalProperties: false
}
