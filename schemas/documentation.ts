import { Type } from '@sinclair/typebox'
import { kindDocumentation, type KindDocumentation } from '../lib/fields/kind-documentation.js'
import { isNow, isSecret, valueKindOf, type Column } from '../lib/model/column.js'
import type { Model } from '../lib/model/model.js'
import type { Json } from '../lib/values/values.js'
import { envelopeSchema } from './list.js'
import { valueSchema } from './shapes.js'

/** JSON Schema as plain data, for documentation alone: nothing is checked or serialized by it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The schema of a record as answers show it, with an example. */
export function recordDocumentation (visible: readonly Column[]): JsonSchema {
  return objectOf(visible, { required: visible, described: answerSchema, shown: visible })
}

/** The schema of a list of records; these, and the paging information, are told by references. */
export function listDocumentation (page: JsonSchema, record: JsonSchema): JsonSchema {
  return plain(envelopeSchema(Type.Unsafe(record), Type.Unsafe(page)))
}

/** The parameters of the path of one record. */
export function keyDocumentation ({ columns: [key] }: Model): JsonSchema {
  const { minimum, ...schema } = kindSchema(key)
  return {
    type: 'object',
    properties: { id: { ...schema, ...(minimum !== undefined && { minimum: 0 }), description: 'Primary key of the record' } },
    required: ['id']
  }
}

/** What a client may send. */
export interface BodyColumns {
  readonly writable: readonly Column[]
  /** Keys that must be there. */
  readonly required: readonly string[]
  /** Those that no answer shows. */
  readonly excluded: ReadonlySet<Column>
}

/** The schema of a body, with an example of the keys that must be there; of the first key if none must. */
export function bodyDocumentation ({ writable, required, excluded }: BodyColumns): JsonSchema {
  const needed = writable.filter(({ key }) => required.includes(key))
  return objectOf(writable, {
    required: needed,
    described: (column) => bodySchema(column, excluded.has(column)),
    shown: needed.length > 0 ? needed : writable.filter((column) => !excluded.has(column)).slice(0, 1)
  })
}

interface Parts {
  readonly required: readonly Column[]
  described (column: Column): JsonSchema
  /** The columns of the example. */
  readonly shown: readonly Column[]
}

function objectOf (columns: readonly Column[], { required, described, shown }: Parts): JsonSchema {
  const example = exampleOf(shown)
  return plain({
    type: 'object',
    properties: Object.fromEntries(columns.map((column) => [column.key, described(column)])),
    required: required.length > 0 ? required.map(({ key }) => key) : undefined,
    additionalProperties: false,
    examples: example && [example]
  })
}

function exampleOf (columns: readonly Column[]): Readonly<Record<string, Json>> | undefined {
  const example: Record<string, Json> = {}
  for (const column of columns) {
    const value = documentationOf(column).example(column.options)
    if (value === undefined) return undefined
    example[column.key] = value
  }
  return example
}

/** Tables that exist may hold longer texts than a field takes that does not say. */
function answerSchema (column: Column): JsonSchema {
  const isUnbounded = column.kind === 'text' && column.options.maxLength === undefined
  return { ...valueSchema(column), ...(isUnbounded && { maxLength: undefined }), ...reference(column), ...documentationOf(column).answer }
}

/** The default of a field that no answer shows is left out. */
function bodySchema (column: Column, isExcluded: boolean): JsonSchema {
  const { default: declared } = column.options
  const isTold = !isExcluded && !isSecret(column) && !isNow(column) && typeof declared !== 'function'
  return {
    ...valueSchema(column),
    description: documentationOf(column).body,
    ...reference(column),
    ...(isTold && { default: declared }),
    ...(isExcluded && { writeOnly: true })
  }
}

function reference ({ target }: Column): JsonSchema {
  return target === undefined ? {} : { description: `Primary key of a record of model ${target().name}` }
}

/** A reference is documented as the primary key that it holds. */
export function documentationOf (column: Column): KindDocumentation {
  const { kind, target } = column
  return kindDocumentation[target === undefined ? kind : target().columns[0].kind]
}

/** Without what is undefined, and without the symbols by which TypeBox knows its schemas. */
export function plain (schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema)) as JsonSchema
}

/** The schema of any value of a column's kind, whatever its options. */
export function kindSchema (column: Column): JsonSchema {
  return plain(valueKindOf(column).schema({}))
}
