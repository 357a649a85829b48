import { errors } from '../errors.js'
import { valueKindOf } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { RecordKey } from '../values/values.js'

/**
 * Returns the primary key in the path of a URL.
 *
 * @throws REST_MODELS_RECORD_NOT_FOUND (404) if the text is not a key of the model, such as a decimal integer from 0 to
 *   2^53-1; engines would round or cut another text to the key of another record
 */
export function planKey ({ primaryKey: key }: Model, text: string): RecordKey {
  const value = text.startsWith('-') ? undefined : valueKindOf(key).parse(text, key.options)
  if (value === undefined) throw new errors.RecordNotFound()
  return value as RecordKey
}
