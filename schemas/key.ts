import { Type, type TObject } from '@sinclair/typebox'
import { valueKindOf } from '../lib/model/column.js'
import type { Model } from '../lib/model/model.js'
import { maxKeyLength } from '../lib/values/field-options.js'

/**
 * Returns the schema that the path parameters of a request for one record are checked against: its primary key as text.
 */
export function keySchema ({ primaryKey: key }: Model): TObject {
  const { schema } = valueKindOf(key)
  const { pattern = '^(0|[1-9][0-9]*)$' } = schema({})
  const rules = key.kind === 'text' ? { minLength: 1, maxLength: maxKeyLength } : key.parts ? {} : { pattern }
  return Type.Object({ id: Type.String({ ...rules, description: 'Primary key of the record' }) })
}
