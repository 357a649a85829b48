import type { Operation } from '../policy/policy.js'
import type { Resource } from '../resource/resource.js'
import { describeOperation, operationIdOf } from './describe-operation.js'
import { freeOperationId, type OpenApiDocument } from './document.js'
import { shareParts } from './share-parts.js'

/** What `@fastify/swagger` hands to the transform of a route, and takes from it. */
interface Described {
  readonly schema: object
  readonly url: string
}

interface Asked extends Described {
  readonly route: { readonly method: string | readonly string[] }
  /** Absent if the host asks for Swagger 2.0. */
  readonly openapiObject?: object
}

/** The `config` of a route, as far as `@fastify/swagger` looks for it there. */
export interface DocumentedConfig {
  readonly swaggerTransform: false | ((asked: Asked) => Described)
}

/**
 * How a route describes itself when a document is asked for; before, nothing is done. For Swagger 2.0 the route's own
 * schemas have to do.
 */
export function documentedAs (resource: Resource, operation: Operation): DocumentedConfig {
  return whenAsked((document, { route }) => {
    const name = `${operationIdOf(resource, operation)}${route.method === 'HEAD' ? '-head' : ''}`
    const ids = idsOf(resource)
    const operationId = ids.get(name) ?? freeOperationId(document, name)
    ids.set(name, operationId)
    return { operationId, ...describeOperation(document, resource, operation) }
  })
}

/** Of a route that documentation does not show: its schema says `hide`, and no transform of the host's changes that. */
export const undocumented: DocumentedConfig = { swaggerTransform: false }

/** Of such a route that comes behind all operations of a resource: what these have in common is shared there. */
export function sharesPartsOf (resource: Resource): DocumentedConfig {
  return whenAsked((document, { schema }) => {
    shareParts(document, new Set(idsOf(resource).values()))
    return schema
  })
}

/** The ids of a resource's operations, by the names that they would have alone: once given they stay, since a host's documents may share their paths. */
const operationIds = new WeakMap<Resource, Map<string, string>>()

function idsOf (resource: Resource): Map<string, string> {
  const ids = operationIds.get(resource) ?? new Map<string, string>()
  operationIds.set(resource, ids)
  return ids
}

function whenAsked (describe: (document: OpenApiDocument, asked: Asked) => object): DocumentedConfig {
  return {
    swaggerTransform: (asked) => {
      const { openapiObject, schema, url } = asked
      // Its type says that anything may be missing; the version, the components and the paths are always there.
      return { schema: openapiObject === undefined ? schema : describe(openapiObject as OpenApiDocument, asked), url }
    }
  }
}
