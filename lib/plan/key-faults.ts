import type { FieldFault } from '../errors.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { isText, keyColumnsOf } from '../model/key.js'
import type { Json } from '../values/values.js'

/** Returns a fault for each text in the key of a new record if no path can lead to the record; otherwise no faults. */
export type KeyFaults = (values: ReadonlyMap<Column, Json>) => readonly FieldFault[]

/**
 * Returns the function that checks the keys of new records. A key must not be longer than Fastify's router lets a
 * segment of a path be: the record could be created, but neither read, changed nor deleted. Returns undefined if the
 * key of the model has no texts, which alone a client can make shorter.
 *
 * @param maxSegment  maximum number of UTF-16 units in the segment of a path that stands for an id
 */
export function compileKeyFaults (model: Model, maxSegment: number): KeyFaults | undefined {
  const key = keyColumnsOf(model)
  const texts = key.filter(isText)
  if (texts.length === 0) return undefined
  const message = `makes the path of the record too long: its key has more than ${maxSegment} characters`
  const faults = texts.map((column) => ({ field: column.key, message }))
  // The router decodes the segment once, and then counts its UTF-16 units: the values, and commas between them.
  return (values) => key.map((column) => values.get(column)).join().length > maxSegment ? faults : []
}
