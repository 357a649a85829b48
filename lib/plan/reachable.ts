import type { FieldFault } from '../errors.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { isText, keyColumnsOf } from '../model/key.js'
import type { Json } from '../values/values.js'

/**
 * Returns a fault for each text in the key of a new record, if the key is longer than Fastify's router lets a segment
 * of a path be: the record could be created, but neither read, changed nor deleted. Returns none if the key is short
 * enough, or has no texts, which alone a client can make shorter.
 */
export function unreachableBy (
  { model, maxSegment }: { readonly model: Model, readonly maxSegment: number }, values: ReadonlyMap<Column, Json>
): readonly FieldFault[] {
  const key = keyColumnsOf(model)
  // The router decodes the segment once, and then counts its UTF-16 units: the values, and commas between them.
  if (key.map((column) => values.get(column)).join().length <= maxSegment) return []
  const message = `makes the path of the record too long: its key has more than ${maxSegment} characters`
  return key.filter(isText).map((column) => ({ field: column.key, message }))
}
