import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { buildApp, type BuildOptions, type TestApp } from '../support/site.js'

/** One for all: it compiles the schema of each version of OpenAPI once. */
export const validator = new Validator()

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly example?: unknown
  readonly schema: Schema
}

export interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly examples?: readonly unknown[]
  readonly [keyword: string]: unknown
}

export interface DocumentedOperation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: ReadonlyArray<Readonly<Record<string, readonly string[]>>>
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, {
    readonly headers?: Readonly<Record<string, unknown>>
    readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
  }>>
}

/** A document whose references have been followed. */
export interface ReadDocument {
  /** As it was given. */
  readonly text: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>
  readonly schemas: Readonly<Record<string, Schema>>
  readonly securitySchemes: Readonly<Record<string, unknown>>
  readonly tags: ReadonlyArray<{ readonly name: string }>
  /** The operation of an id, such as `listMessage`. */
  operation (id: string): DocumentedOperation
}

export const info = { title: 'Test', version: '1' }
export const version31: FastifyDynamicSwaggerOptions = { openapi: { openapi: '3.1.0', info } }

/** An app whose host registers `@fastify/swagger`, as a host does, and its document, which is valid. */
export async function documentedApp (
  t: Test, options: BuildOptions = {}, swaggerOptions = version31
): Promise<TestApp & { document: ReadDocument }> {
  const site = await buildApp(t, {
    ...options,
    prepare: async (app, db) => {
      await app.register(swagger, swaggerOptions)
      await options.prepare?.(app, db)
    }
  })
  return { ...site, document: await readDocument(t, site.app) }
}

async function readDocument (t: Test, app: FastifyInstance): Promise<ReadDocument> {
  const text = JSON.stringify(app.swagger())
  const { valid, errors } = await validator.validate(JSON.parse(text))
  t.strictSame([valid, errors], [true, undefined], 'the document is valid')
  const raw = JSON.parse(text) as { readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>> }
  /** Follows references, but none that is followed already: records refer to each other in circles. */
  const follow = (part: unknown, followed: readonly unknown[] = []): unknown => {
    if (Array.isArray(part)) return part.map((item) => follow(item, followed))
    if (typeof part !== 'object' || part === null) return part
    if (!('$ref' in part)) {
      return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, follow(value, followed)]))
    }
    const [, , kind = '', name = ''] = String(part.$ref).split('/')
    const target = raw.components[kind]?.[name]
    if (target === undefined) throw new Error(`${String(part.$ref)} leads nowhere`)
    return followed.includes(target) ? part : follow(target, [...followed, target])
  }
  const { paths, tags, components } = follow(raw) as Pick<ReadDocument, 'paths' | 'tags'> &
    { components: Pick<ReadDocument, 'schemas' | 'securitySchemes'> }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  return {
    text,
    paths,
    tags,
    schemas: components.schemas,
    securitySchemes: components.securitySchemes,
    operation: (id) => {
      const found = operations.find(({ operationId }) => operationId === id)
      if (found === undefined) throw new Error(`No operation ${id}`)
      return found
    }
  }
}

/** The names of the parameters of an operation. */
export function parametersOf ({ parameters = [] }: DocumentedOperation): string[] {
  return parameters.map(({ name }) => name)
}
