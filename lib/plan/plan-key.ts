import { errors } from '../errors.js'
import { valueKindOf } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { RecordKey } from '../values/values.js'

/** Returns the primary key in a path, from its text; throws REST_MODELS_RECORD_NOT_FOUND (404) if it is no key. */
export type PlanKey = (text: string) => RecordKey

/**
 * Compiles how the text of a model's primary key is read. A key is a decimal integer from 0 to 2^53-1, or a UUID.
 * Engines would round or cut another text to the key of another record.
 */
export function compilePlanKey ({ primaryKey: key }: Model): PlanKey {
  const { parse } = valueKindOf(key)
  return (text) => {
    const value = text.startsWith('-') ? undefined : parse(text, key.options)
    if (value === undefined) throw new errors.RecordNotFound()
    return value as RecordKey
  }
}
