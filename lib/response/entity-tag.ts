import { hash } from 'node:crypto'
import type { ModelRecord } from './record.js'

/** Returns the entity tag of a record, as the header `ETag` has it. */
export type TagOf = (record: ModelRecord) => string

/** Characters of a tag: 6 bits each, so at least 128 bits of the hash. */
const tagLength = 22

/**
 * Returns a function that makes the entity tag of a record: a hash of the JSON of its visible fields. Equal records
 * have equal tags on every engine and in every process. Hidden fields have no part in it.
 *
 * @param serialize  returns the JSON of a record as answers have it
 */
export function compileTagOf (serialize: (record: ModelRecord) => string): TagOf {
  return (record) => `"${hash('sha256', serialize(record), 'base64url').slice(0, tagLength)}"`
}
