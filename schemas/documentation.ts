import { Type } from '@sinclair/typebox'
import { kindDocumentation, type KindDocumentation } from '../lib/fields/kind-documentation.js'
import {
  isClientGenerated, isMadeByApi, isNow, isSecret, valueKindNameOf, valueKindOf, valueOptionsOf, type Column
} from '../lib/model/column.js'
import type { Model } from '../lib/model/model.js'
import { joinId } from '../lib/model/key.js'
import { keyName } from '../lib/model/model.js'
import { maxKeyLength } from '../lib/values/field-options.js'
import type { Json } from '../lib/values/values.js'
import { envelopeSchema } from './list.js'
import { bodySchema, valueSchema } from './shapes.js'

/** JSON Schema as plain data, only for documentation. It does not check or serialize anything. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Returns the schema of a record as answers show it, with an example if each column has one. */
export function recordDocumentation (visible: readonly Column[]): JsonSchema {
  return objectOf(visible, { required: visible, described: answerSchema, shown: visible })
}

/**
 * Returns the schema of a list. The schemas of its paging information and of a record are given, and may be references
 * (`$ref`).
 */
export function listDocumentation (page: JsonSchema, record: JsonSchema): JsonSchema {
  return plain(envelopeSchema(Type.Unsafe(record), Type.Unsafe(page)))
}

/**
 * Returns the schema of the path parameters of one record, for the OpenAPI document only. The route itself has the
 * schema of keySchema(). No validator runs with either of them: the plugin parses the key itself.
 */
export function keyDocumentation ({ primaryKey: key }: Model): JsonSchema {
  const { minimum, ...schema } = kindSchema(key)
  const bounds = {
    ...(minimum !== undefined && { minimum: 0 }),
    ...(key.kind === 'text' && { minLength: 1, maxLength: maxKeyLength })
  }
  return {
    type: 'object',
    properties: { id: { ...schema, ...bounds, description: 'Primary key of the record' } },
    required: ['id']
  }
}

/** The columns that a client may send in a body. */
export interface BodyColumns {
  readonly writable: readonly Column[]
  /** JSON keys that the body must have. */
  readonly required: readonly string[]
  /** Columns that no answer shows. */
  readonly excluded: ReadonlySet<Column>
  /** True if a field that is left out gets its default; false if it stays as it is. */
  readonly fillsDefaults: boolean
}

/**
 * Returns the schema of the body of a request. Its example has the required JSON keys. If none is required, the example
 * has only the first key that answers show and that is not the primary key.
 */
export function bodyDocumentation (columns: BodyColumns): JsonSchema {
  const { writable, required, excluded } = columns
  const needed = writable.filter(({ key }) => required.includes(key))
  const isShown = (column: Column): boolean => !excluded.has(column) && !isClientGenerated(column)
  return objectOf(writable, {
    required: needed,
    described: (column) => describedBody(column, columns),
    shown: needed.length > 0 ? needed : writable.filter((column) => isShown(column)).slice(0, 1)
  })
}

interface Parts {
  readonly required: readonly Column[]
  described (column: Column): JsonSchema
  /** Columns that the example has. */
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

/** Returns an example with all columns; undefined if one of them has no example. */
function exampleOf (columns: readonly Column[]): Readonly<Record<string, Json | undefined>> | undefined {
  const examples = columns.map((column) => [column.key, exampleFor(column)] as const)
  return examples.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(examples)
}

function exampleFor (column: Column): Json | undefined {
  if (column.parts !== undefined) return joinId(column.parts.map((part) => String(exampleFor(part))))
  return documentationOf(column).example(valueOptionsOf(column))
}

/**
 * Returns the schema of a column in answers. It gives no maximum length to a text whose field declares none, because an
 * existing table may hold texts that are longer than the default. The rules for primary keys are left out, too, because
 * they hold only for new keys.
 */
function answerSchema (column: Column): JsonSchema {
  const isText = valueKindOf(column).storage === 'text' && !isSecret(column)
  const isKey = isText && (column.field === keyName || column.target !== undefined)
  return {
    ...valueSchema(column),
    ...(isText && valueOptionsOf(column).maxLength === undefined && { maxLength: undefined }),
    ...(isKey && { minLength: undefined, maxLength: undefined, pattern: undefined }),
    ...reference(column),
    ...documentationOf(column).answer
  }
}

/**
 * Returns the schema of a column in bodies. It names the default only if a field that is left out gets it, and if the
 * default is a fixed value. It never names the default of a password or of a column that no answer shows.
 */
function describedBody (column: Column, { excluded, fillsDefaults }: BodyColumns): JsonSchema {
  const { default: declared } = column.options
  const isExcluded = excluded.has(column)
  const isFixed = !isNow(column) && typeof declared !== 'function'
  const isTold = fillsDefaults && isFixed && !isExcluded && !isSecret(column)
  return {
    ...bodySchema(column),
    ...documentationOf(column).body?.(valueOptionsOf(column)),
    ...reference(column),
    ...(isClientGenerated(column) && { description: isOptional(column) ? ownKey : givenKey }),
    ...(isTold && { default: declared }),
    ...(isExcluded && { writeOnly: true })
  }
}

const ownKey = 'Primary key of the record; the server makes it if it is left out'
const givenKey = 'Primary key of the record, which no other record has'

function isOptional (column: Column): boolean {
  return isMadeByApi(column) || column.options.default !== undefined
}

function reference ({ target }: Column): JsonSchema {
  return target === undefined ? {} : { description: `Primary key of a record of model ${target().name}` }
}

/** Returns the documentation of a column's kind. A foreign key has that of the primary key that it refers to. */
export function documentationOf (column: Column): KindDocumentation {
  return kindDocumentation[valueKindNameOf(column)]
}

/** Returns a copy without undefined properties, and without the symbols by which TypeBox recognizes its schemas. */
export function plain (schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema))
}

/** Returns the schema of all values of a column's kind. It ignores the options of the column. */
export function kindSchema (column: Column): JsonSchema {
  return plain(valueKindOf(column).schema({}))
}
