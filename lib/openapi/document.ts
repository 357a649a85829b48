import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '../../schemas/documentation.js'

type Pieces = Record<string, unknown>

/** An OpenAPI document while `@fastify/swagger` writes it: the parts that the plugin reads, adds to or replaces. */
export interface OpenApiDocument {
  /** Version of OpenAPI, such as `3.1.0`. */
  readonly openapi: string
  readonly components: { readonly schemas: Pieces, securitySchemes?: Pieces, parameters?: Pieces, responses?: Pieces }
  tags?: ReadonlyArray<{ readonly name: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, WrittenOperation>>>>
}

/** An operation as `@fastify/swagger` has written it: parameters and responses are written out, not referred to. */
export interface WrittenOperation {
  readonly operationId?: string
  parameters?: readonly WrittenParameter[]
  readonly responses?: Record<string, { readonly description?: string }>
}

interface WrittenParameter {
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
  readonly schema?: { readonly type?: unknown }
}

/**
 * Adds a schema to the components of the document as {@link place} says, and returns a reference to it. For OpenAPI 3.0
 * the schema is converted first.
 */
export function shareSchema (document: OpenApiDocument, name: string, schema: JsonSchema): JsonSchema {
  return referenceTo(place(document.components.schemas, name, inVersionOf(document, schema)))
}

/**
 * Adds a schema that may refer to itself, directly or through others, and returns a reference to it. If the name is
 * taken, a number is put after it, even if the schemas are equal.
 *
 * @param build  gets the same reference, and returns the schema
 */
export function shareCircular (
  document: OpenApiDocument, name: string, build: (reference: JsonSchema) => JsonSchema
): JsonSchema {
  const { components: { schemas } } = document
  const found = firstFree(name, (candidate) => !Object.hasOwn(schemas, candidate))
  schemas[found] = {}
  const reference = referenceTo(found)
  schemas[found] = inVersionOf(document, build(reference))
  return reference
}

function referenceTo (name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

function inVersionOf ({ openapi }: OpenApiDocument, schema: JsonSchema): JsonSchema {
  return openapi.startsWith('3.0') ? toVersion30(schema) : schema
}

/** Adds a security scheme to the components as {@link place} says, and returns its name there. */
export function shareSecurity (document: OpenApiDocument, name: string, scheme: object): string {
  return place(ownPieces(document, 'securitySchemes'), name, scheme)
}

/** Adds a parameter to the components as {@link place} says, and returns a reference to it. */
export function shareParameter (document: OpenApiDocument, name: string, parameter: object): JsonSchema {
  return { $ref: `#/components/parameters/${place(ownPieces(document, 'parameters'), name, parameter)}` }
}

/** Adds a response to the components as {@link place} says, and returns a reference to it. */
export function shareResponse (document: OpenApiDocument, name: string, response: object): JsonSchema {
  return { $ref: `#/components/responses/${place(ownPieces(document, 'responses'), name, response)}` }
}

/**
 * Replaces one kind of component in the document by a copy, and returns the copy. The original object comes from the
 * app and must not change, because another app may use it.
 */
function ownPieces ({ components }: OpenApiDocument, kind: 'securitySchemes' | 'parameters' | 'responses'): Pieces {
  const pieces = { ...components[kind] }
  components[kind] = pieces
  return pieces
}

/**
 * Adds a tag with its description to the document, if it has no tag with that name. The list of tags is replaced, not
 * changed, because it may belong to the app.
 */
export function addTag (document: OpenApiDocument, name: string, description: string): void {
  const { tags = [] } = document
  if (!tags.some((tag) => tag.name === name)) document.tags = [...tags, { name, description } as { name: string }]
}

/** Returns an `operationId` that no other operation has: the name, followed by a number if it is taken. */
export function freeOperationId ({ paths }: OpenApiDocument, name: string): string {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const taken = new Set(operations.map(({ operationId }) => operationId))
  return firstFree(name, (id) => !taken.has(id))
}

/**
 * Adds a component and returns its name. If a different component has that name, a number is put after the name. An
 * equal component is not added again.
 */
function place (pieces: Pieces, name: string, piece: object): string {
  const found = firstFree(name, (candidate) =>
    !Object.hasOwn(pieces, candidate) || isDeepStrictEqual(pieces[candidate], piece))
  pieces[found] = piece
  return found
}

function firstFree (name: string, isFree: (candidate: string) => boolean): string {
  let candidate = name
  for (let count = 2; !isFree(candidate); count++) candidate = `${name}${count}`
  return candidate
}

/**
 * Keywords of JSON Schema that hold schemas, each with a function that converts these to OpenAPI 3.0. The values of all
 * other keywords are kept as they are.
 */
const schemaKeywords: Readonly<Record<string, (value: never) => unknown>> = {
  properties: (schemas: Readonly<Record<string, JsonSchema>>) => Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, toVersion30(schema)])),
  items: toVersion30,
  allOf: (schemas: readonly JsonSchema[]) => schemas.map(toVersion30)
}

/**
 * Converts a schema to OpenAPI 3.0. This version has `nullable` instead of the type null, and one `example` instead of
 * several `examples`. An `anyOf` must consist of one schema and then null: it becomes an `allOf` with that schema, and
 * `nullable`.
 */
function toVersion30 (schema: JsonSchema): JsonSchema {
  const { type, examples, anyOf, ...others } = schema
  return {
    ...(Array.isArray(anyOf) && { allOf: anyOf.slice(0, 1), nullable: true }),
    ...(Array.isArray(type) ? { type: type[0], nullable: true } : type !== undefined && { type }),
    ...Object.fromEntries(
      Object.entries(others).map(([key, value]) => [key, schemaKeywords[key]?.(value as never) ?? value])),
    ...(Array.isArray(examples) && { example: examples[0] })
  }
}
