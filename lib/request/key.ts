import { errors } from '../errors.js'

const digits = /^(?:0|[1-9]\d*)$/

/**
 * The primary key in a path.
 *
 * @throws REST_MODELS_RECORD_NOT_FOUND (404) if the text is not a decimal integer up to 2^53-1: engines would round or cut
 *   such texts to the key of another record
 */
export function parseKey (text: string): number {
  const key = Number(text)
  if (!digits.test(text) || !Number.isSafeInteger(key)) throw new errors.RecordNotFound()
  return key
}
