import { Type, type TObject } from '@sinclair/typebox'
import { valueKindOf } from '../lib/model/column.js'
import type { Model } from '../lib/model/model.js'

/**
 * Returns the schema that the path parameters of a request for one record are checked against: its primary key as text.
 */
export function keySchema ({ primaryKey: key }: Model): TObject {
  const { pattern = '^(0|[1-9][0-9]*)$' } = valueKindOf(key).schema(key.options)
  return Type.Object({ id: Type.String({ pattern, description: 'Primary key of the record' }) })
}
