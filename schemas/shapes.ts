import { Type, type TObject, type TSchema } from '@sinclair/typebox'
import type { StorageName } from '../lib/engines/storage.js'
import { isMadeByApi, valueKindOf, valueOptionsOf, type Column } from '../lib/model/column.js'

/** The columns of a resource that a client may read, and those that it may write. */
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
  create: {
    columns: 'writable',
    isOptional: (column) => column.nullable || column.options.default !== undefined || isMadeByApi(column)
  },
  update: { columns: 'writable', isOptional: () => true }
} as const satisfies Record<string, ShapeRow>

export type Shape = keyof typeof shapes

/**
 * Returns the JSON Schema of a record, or of the body of a create or an update. The schema has one property for each
 * column, by its JSON key.
 */
export function shapeSchema (shape: Shape, columns: ShapeColumns): TObject {
  const { columns: wanted, isOptional } = shapes[shape]
  const properties = columns[wanted].map((column) => {
    const { parts = [column] } = column
    const mayBeUnshowable = shape === 'record' && parts.some((part) => unshowableKinds.has(valueKindOf(part).storage))
    const shown = mayBeUnshowable ? nullable(kindOf(column)) : valueSchema(column)
    const schema = shape === 'record' ? shown : bodySchema(column)
    return [column.key, isOptional(column) ? Type.Optional(schema) : schema] as const
  })
  return Type.Object(Object.fromEntries(properties), { additionalProperties: false })
}

/**
 * Kinds whose columns may hold values that no record can show: infinity, a value that is not a number, a key that is no
 * integer, a boolean other than 0 and 1, a date before our era. Records show null for such a value, even if the field
 * is not nullable.
 */
const unshowableKinds: ReadonlySet<StorageName> =
  new Set(['key', 'number', 'integer', 'decimal', 'boolean', 'datetime', 'date'])

function kindOf (column: Column): TSchema {
  return valueKindOf(column).schema(valueOptionsOf(column))
}

/** Returns the JSON Schema of the values of a column. It permits null if the column is nullable. */
export function valueSchema (column: Column): TSchema {
  const schema = kindOf(column)
  return column.nullable ? nullable(schema) : schema
}

/**
 * Returns the schema of a column in bodies. A `key()` must be at least 0 in bodies, because no path leads to a record
 * with a negative one.
 */
export function bodySchema (column: Column): TSchema {
  return column.kind === 'key' ? { ...valueSchema(column), minimum: 0 } : valueSchema(column)
}

/**
 * Adds null to a schema, as `type: [T, 'null']`. A union instead would make serializers and validators try each branch.
 * A schema without a type is returned unchanged, because it permits null already.
 */
function nullable (schema: TSchema): TSchema {
  if (schema['type'] === undefined) return schema
  const choices: readonly unknown[] | undefined = schema['enum']
  return Type.Unsafe({ ...schema, type: [schema['type'], 'null'], ...(choices && { enum: [...choices, null] }) })
}
