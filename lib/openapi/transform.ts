import type { Operation } from '../policy/operations.js'
import type { Resource } from '../resource/resource.js'
import { describeOperation, operationIdOf } from './describe-operation.js'
import { freeOperationId, type OpenApiDocument } from './document.js'
import { shareParts } from './share-parts.js'

/** The values that `@fastify/swagger` passes to the transform of a route, and takes from it. */
interface Described {
  readonly schema: object & { readonly hide?: boolean }
  readonly url: string
}

interface Asked extends Described {
  readonly route: { readonly method: string | readonly string[] }
  /** The OpenAPI document that is being written. Absent if the app asks for a document in Swagger 2.0. */
  readonly openapiObject?: object
}

/**
 * The part of a route's `config` that `@fastify/swagger` reads: the transform of the route's schema. `false` means that
 * the schema stays as it is, even if the app has set a transform for all routes.
 */
export interface DocumentedConfig {
  readonly swaggerTransform: false | ((asked: Asked) => Described)
}

/**
 * Returns the `config` of a route. It makes the description of the route when a document is requested, not before. In a
 * Swagger 2.0 document, the schema of the route stays as it was registered. A route that the app has hidden stays
 * hidden.
 *
 * @param noteSwagger2  is called if the document is in Swagger 2.0
 */
export function documentedAs (resource: Resource, operation: Operation, noteSwagger2: () => void): DocumentedConfig {
  return whenAsked((document, { route, schema }) => {
    // An onRoute hook of the host has hidden the route.
    if (schema.hide === true) return schema
    const isPatch = route.method === 'PATCH'
    const name = `${operationIdOf(resource, isPatch ? 'patch' : operation)}${route.method === 'HEAD' ? '-head' : ''}`
    const ids = idsOf(resource)
    const operationId = ids.get(name) ?? freeOperationId(document, name)
    ids.set(name, operationId)
    return { operationId, ...describeOperation(document, resource, { operation, isPatch }) }
  }, noteSwagger2)
}

/**
 * The `config` of a route whose schema has the property `hide`. It keeps the app's transform for all routes from
 * removing that property.
 */
export const undocumented: DocumentedConfig = { swaggerTransform: false }

/**
 * Returns the `config` of a hidden route, which must be registered after all operations of a resource. When a document
 * is requested, this `config` moves the parts that the operations share to the components of the document.
 */
export function sharesPartsOf (resource: Resource): DocumentedConfig {
  return whenAsked((document, { schema }) => {
    shareParts(document, new Set(idsOf(resource).values()))
    return schema
  })
}

/**
 * The `operationId` of each operation of a resource. The key in the inner map is the preferred id; the value may have a
 * number after it, because another operation has the preferred id. An operation keeps its id in all documents. The app
 * may have one object `paths` for all its documents. Without this map, the second document would find the ids of the
 * first one in it, and choose others.
 */
const operationIds = new WeakMap<Resource, Map<string, string>>()

function idsOf (resource: Resource): Map<string, string> {
  const ids = operationIds.get(resource) ?? new Map<string, string>()
  operationIds.set(resource, ids)
  return ids
}

function whenAsked (
  describe: (document: OpenApiDocument, asked: Asked) => object, noteSwagger2: () => void = () => {}
): DocumentedConfig {
  return {
    swaggerTransform: (asked) => {
      const { openapiObject, schema, url } = asked
      if (openapiObject === undefined) {
        noteSwagger2()
        return { schema, url }
      }
      // The type says that anything may be missing, but the version, the components and the paths are always there.
      return { schema: describe(openapiObject as OpenApiDocument, asked), url }
    }
  }
}
