import type { Documented } from '../support/answers.js'

type Schema = Readonly<Record<string, unknown>>

/** One way to ask that the document names. */
export interface Operation {
  readonly path: string
  readonly method: string
  readonly query: ReadonlyArray<{ readonly name: string, readonly schema: Schema }>
  /** The properties of a body. */
  readonly body: ReadonlyArray<{ readonly name: string, readonly schema: Schema, readonly required: boolean }>
}

interface Written {
  readonly parameters?: readonly Schema[]
  readonly requestBody?: Schema
}

/** All operations of an OpenAPI document, with references to its parts replaced by these. */
export function operationsOf (document: Documented): readonly Operation[] {
  const resolved = (part: unknown): Schema => {
    const { $ref, ...others } = part as Schema & { readonly $ref?: string }
    return $ref === undefined
      ? others
      : {
          ...resolved($ref.split('/').slice(1).reduce<unknown>((found, name) => (found as Schema)[name], document)),
          ...others
        }
  }
  return Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => {
      const { parameters = [], requestBody } = operation as Written
      const body = resolved(requestBody ?? {})['content'] as Readonly<Record<string, { readonly schema: unknown }>> |
        undefined
      const { properties = {}, required = [] } = resolved(body?.['application/json']?.schema ?? {}) as {
        readonly properties?: Schema, readonly required?: readonly string[]
      }
      return {
        path,
        method: method.toUpperCase(),
        query: parameters.map(resolved).filter((parameter) => parameter['in'] === 'query')
          .map((parameter) => ({ name: String(parameter['name']), schema: resolved(parameter['schema']) })),
        body: Object.entries(properties)
          .map(([name, schema]) => ({ name, schema: resolved(schema), required: required.includes(name) }))
      }
    }))
}
