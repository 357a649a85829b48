import { Type, type TObject } from '@sinclair/typebox'
import { valueKindOf } from '../lib/model/column.js'
import type { Model } from '../lib/model/model.js'
import { maxKeyLength } from '../lib/values/field-options.js'

/**
 * Returns the schema of the path parameters of a route for one record: its primary key as text. It is shown in a
 * Swagger 2.0 document. Requests are not checked against it, but by `parseKey` of the resource.
 */
export function keySchema ({ primaryKey: key }: Model): TObject {
  const { schema } = valueKindOf(key)
  const { pattern = '^(0|[1-9][0-9]*)$' } = schema({})
  const rules = key.kind === 'text' ? { minLength: 1, maxLength: maxKeyLength } : key.parts ? {} : { pattern }
  return Type.Object({ id: Type.String({ ...rules, description: 'Primary key of the record' }) })
}
