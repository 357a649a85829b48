import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { emptySchema } from '../../schemas/empty.js'
import { errorSchema } from '../../schemas/error.js'
import { keySchema } from '../../schemas/key.js'
import { envelopeSchema } from '../../schemas/list.js'
import { documentedAs, sharesPartsOf, undocumented } from '../openapi/transform.js'
import { rowOf, type Operation } from '../policy/operations.js'
import { isPrivate, privateConfig } from '../policy/visibility.js'
import type { Resource } from '../resource/resource.js'

/** The parts of a route that describe it. */
export interface RouteDescription {
  readonly schema: FastifySchema
  readonly config: Readonly<FastifyContextConfig>
}

/**
 * Describes the route of an operation. Documentation leaves out what nobody may do.
 *
 * @param noteSwagger2  is called when the route is asked for a document in Swagger 2.0
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
 * Describes the route that answers the other methods of a path with 405, after the policy has judged the request as one
 * for an operation.
 */
export function describeRefusal (resource: Resource, judgedAs: Operation): RouteDescription {
  return {
    // Each route gets a copy, because a hook of the host may change it.
    schema: hidden({ response: { ...failures } }),
    config: { ...privacyOf(resource, judgedAs), ...resource.config, ...sharesPartsOf(resource) }
  }
}

/** Describes a second route for the same requests, which documentation does not show. */
export function describeTwin ({ schema, config }: RouteDescription): RouteDescription {
  return { schema: hidden(schema), config: { ...config, ...undocumented } }
}

function privacyOf (resource: Resource, operation: Operation): object {
  return isPrivate(resource, operation) ? privateConfig : {}
}

/** Hides a route from documentation, which shows each route once. */
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
