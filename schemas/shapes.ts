import { Type, type TObject, type TSchema } from '@sinclair/typebox'
import type { StorageName } from '../lib/engines/storage.js'
import { valueKindOf, type Column } from '../lib/model/column.js'

/** Which columns of a resource a client reads, writes on create and writes on update. */
export interface ShapeColumns {
  readonly visible: readonly Column[]
  readonly writable: readonly Column[]
}

interface ShapeRow {
  readonly columns: keyof ShapeColumns
  isOptional (column: Column): boolean
}

const shapes = {
  record: { columns: 'visible', isOptional: () => false },
  create: { columns: 'writable', isOptional: (column) => column.nullable || column.options.default !== undefined },
  update: { columns: 'writable', isOptional: () => true }
} as const satisfies Record<string, ShapeRow>

export type Shape = keyof typeof shapes

/** The JSON Schema of a record, or of the body of a create or an update; one property for each key. */
export function shapeSchema (shape: Shape, columns: ShapeColumns): TObject {
  const { columns: wanted, isOptional } = shapes[shape]
  const properties = columns[wanted].map((column) => {
    const schema = shape === 'record' && mayBeUnshown.has(valueKindOf(column).storage) ? nullable(kindOf(column)) : valueSchema(column)
    return [column.key, isOptional(column) ? Type.Optional(schema) : schema] as const
  })
  return Type.Object(Object.fromEntries(properties), { additionalProperties: false })
}

/** Kinds whose columns may hold what no record can show: infinity, what is no number, a date before our era. Records show null, whatever the model promises. */
const mayBeUnshown: ReadonlySet<StorageName> = new Set(['number', 'decimal', 'datetime', 'date'])

function kindOf (column: Column): TSchema {
  return valueKindOf(column).schema(column.options)
}

/** The JSON Schema of the values of a column; null is one of them if the column may be null. */
export function valueSchema (column: Column): TSchema {
  const schema = kindOf(column)
  return column.nullable ? nullable(schema) : schema
}

/** `type: [T, 'null']` instead of a union: serializers and validators need not try the branches one by one. */
function nullable (schema: TSchema): TSchema {
  if (schema['type'] === undefined) return schema
  const choices = schema['enum'] as unknown[] | undefined
  return Type.Unsafe({ ...schema, type: [schema['type'], 'null'], ...(choices && { enum: [...choices, null] }) })
}
