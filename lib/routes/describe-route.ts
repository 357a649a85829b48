import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { emptySchema } from '../../schemas/empty.js'
import { errorSchema } from '../../schemas/error.js'
import { keySchema } from '../../schemas/key.js'
import { envelopeSchema } from '../../schemas/list.js'
import { documentedAs, sharesPartsOf, undocumented } from '../openapi/transform.js'
import { rowOf, type Operation } from '../policy/operations.js'
import { isPrivate, privateConfig } from '../policy/visibility.js'
import type { Resource } from '../resource/resource.js'

/**
 * The options of a route that describe it: the schemas of its parameters, body and answers, and `config`, which plugins
 * read.
 */
export interface RouteDescription {
  readonly schema: FastifySchema
  readonly config: Readonly<FastifyContextConfig>
}

/**
 * Describes the route of an operation. Documentation leaves out an operation that the policy refuses to everybody.
 *
 * @param noteSwagger2  called when somebody asks for a document in Swagger 2.0
 */
export function describeRoute (
  resource: Resource, operation: Operation, noteSwagger2: () => void
): RouteDescription {
  const schema = schemaOf(resource, operation)
  const config = { ...privacyOf(resource, operation), ...resource.config }
  return resource.protections[operation] === 'closed'
    ? describeTwin({ schema, config })
    : { schema, config: { ...documentedAs(resource, operation, noteSwagger2), ...config } }
}

/**
 * Describes the route that answers 405 to methods that a path does not have. Before that, the policy treats the request
 * like one for the operation `judgedAs`. This route must be added after the routes of all operations: its `config`
 * moves the parts that these routes share to the components of an OpenAPI document.
 */
export function describeRefusal (resource: Resource, judgedAs: Operation): RouteDescription {
  return {
    // Each route gets a copy, because a hook of the host may change the schema.
    schema: hidden({ response: { ...failures } }),
    config: { ...privacyOf(resource, judgedAs), ...resource.config, ...sharesPartsOf(resource) }
  }
}

/** Describes a route that documentation does not show, such as a second route for the same requests. */
export function describeTwin ({ schema, config }: RouteDescription): RouteDescription {
  return { schema: hidden(schema), config: { ...config, ...undocumented } }
}

function privacyOf (resource: Resource, operation: Operation): object {
  return isPrivate(resource, operation) ? privateConfig : {}
}

/** Returns the schema with the mark `hide`, so that documentation leaves the route out. */
function hidden (schema: FastifySchema): FastifySchema {
  return { ...schema, ...{ hide: true } }
}

const failures = { '4xx': errorSchema, '5xx': errorSchema }

function schemaOf ({ schemas, model }: Resource, operation: Operation): FastifySchema {
  const { path, status, takes, answers } = rowOf(operation)
  const answer = { list: envelopeSchema(schemas.record), record: schemas.record, none: emptySchema }
  return {
    ...(path === 'record' && { params: keySchema(model) }),
    ...(takes && { body: schemas[takes] }),
    response: { [status]: answer[answers ?? 'none'], ...failures }
  }
}
