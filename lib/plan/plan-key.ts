import { errors } from '../errors.js'
import { valueKindOf } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { maxKeyLength } from '../values/field-options.js'
import type { RecordKey } from '../values/values.js'

/** Returns the primary key in a path, from its text; throws REST_MODELS_RECORD_NOT_FOUND (404) if it is no key. */
export type PlanKey = (text: string) => RecordKey

/**
 * Compiles how the text of a model's primary key is read. A key is a decimal integer from 0 to 2^53-1, a UUID, or any
 * text of 1 to 100 characters. Engines would round or cut another text to the key of another record.
 */
export function compilePlanKey ({ primaryKey: key }: Model): PlanKey {
  const { parse, storage } = valueKindOf(key)
  const fits = storage === 'text' ? fitsPath : isNotNegative
  return (text) => {
    const value = fits(text) ? parse(text, key.options) : undefined
    if (value === undefined) throw new errors.RecordNotFound()
    return value as RecordKey
  }
}

function fitsPath (text: string): boolean {
  // A character has one or two UTF-16 units. The host decides how long a text its router takes.
  return text !== '' && text.length <= 2 * maxKeyLength && [...text].length <= maxKeyLength
}

function isNotNegative (text: string): boolean {
  return !text.startsWith('-')
}
