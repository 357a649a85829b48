import {
  bodyDocumentation, keyDocumentation, listDocumentation, plain, recordDocumentation, type JsonSchema
} from '../../schemas/documentation.js'
import { pageSchema } from '../../schemas/list.js'
import { closedToAll } from '../policy/guard.js'
import type { Operation } from '../policy/policy.js'
import type { Resource } from '../resource/resource.js'
import { addTag, shareSchema, shareSecurity, type OpenApiDocument } from './document.js'
import { documentedFilters, type DocumentedFilters } from './filters.js'
import { listParameters } from './list-parameters.js'
import { operationTable, remarksOf } from './operations.js'
import { responsesOf } from './responses.js'

/** Description of an operation, in the form in which `@fastify/swagger` takes it from a route. */
export type OperationDocumentation = Readonly<Record<string, unknown>>

/** Describes an operation, and adds the parts that it shares with others to the components of the document. */
export function describeOperation (
  document: OpenApiDocument, resource: Resource, operation: Operation
): OperationDocumentation {
  const { registration: { name, model, policy } } = resource
  const { summary, description, success, takes } = operationTable[operation]
  const list = operation === 'list' ? filtersOf(resource) : undefined
  addTag(document, name, `Records of model ${model.name}`)
  return {
    summary: summary(name),
    description: [
      description,
      ...remarksOf(operation, resource),
      ...(list === undefined ? [] : filterRemarks(list, resource))
    ].join('\n\n'),
    tags: [name],
    ...securityOf(document, policy, operation),
    ...(list && { querystring: listParameters(document, resource.list, list.filters) }),
    ...(!isOfList(operation) && { params: keyDocumentation(model) }),
    ...(takes && policy.closed?.includes(operation) !== true && { body: bodyOf(document, resource, takes) }),
    response: responsesOf(
      document, resource, { operation, body: success.body && answerOf(document, resource, success.body) })
  }
}

function isOfList (operation: Operation): boolean {
  return operation === 'list' || operation === 'create'
}

/** Returns the id of an operation. It is stable, and no other operation of the resource has it. */
export function operationIdOf (resource: Resource, operation: Operation): string {
  return `${operation}${titleOf(resource)}`
}

/** Returns the name for schemas and operations: the model's, or the resource's if its path is another. */
function titleOf ({ registration: { name, model } }: Resource): string {
  if (name === model.name.toLowerCase()) return model.name.charAt(0).toUpperCase() + model.name.slice(1)
  return name.split(/[-_]+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function filtersOf ({ list, guarded, registration: { policy } }: Resource): DocumentedFilters {
  return documentedFilters(list, closedToAll(guarded, policy))
}

function filterRemarks (
  { isCut }: DocumentedFilters, { list: { limits }, guarded, registration: { policy } }: Resource
): string[] {
  return [
    ...(isCut
      ? ['There are more filters than are listed here: other fields have them too, and a filter may follow ' +
        `up to ${limits.joins} foreign keys, joined by \`__\`.`]
      : []),
    ...(guarded.size > closedToAll(guarded, policy).size
      ? ['Filters through a resource whose reading is protected are for those who may list it.']
      : [])
  ]
}

/**
 * Returns the security requirements of an operation. An open or closed operation has none, whatever the host requires
 * elsewhere. If the policy does not tell how credentials are sent, the requirements of the host apply.
 */
function securityOf (
  document: OpenApiDocument, { open, closed, scheme }: Resource['registration']['policy'], operation: Operation
): JsonSchema {
  if (open.includes(operation) || closed?.includes(operation)) return { security: [] }
  if (scheme === undefined) return {}
  const { type, scheme: name = type } = scheme
  return { security: [{ [shareSecurity(document, String(name), scheme)]: [] }] }
}

function answerOf (document: OpenApiDocument, resource: Resource, body: 'record' | 'list'): JsonSchema {
  const title = titleOf(resource)
  const record = shareSchema(document, title, recordDocumentation(resource.visible))
  if (body === 'record') return record
  const page = shareSchema(document, 'Page', plain(pageSchema))
  return shareSchema(document, `${title}List`, listDocumentation(page, record))
}

function bodyOf (document: OpenApiDocument, resource: Resource, takes: 'create' | 'update'): JsonSchema {
  const { schemas, write: { writable }, registration: { excluded } } = resource
  const columns = { writable: [...writable], required: schemas[takes].required ?? [], excluded }
  const name = `${titleOf(resource)}${takes === 'create' ? 'Create' : 'Update'}`
  const json = shareSchema(document, name, bodyDocumentation(columns))
  const form = shareSchema(document, 'Form', formSchema)
  return {
    content: {
      'application/json': { schema: json },
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
