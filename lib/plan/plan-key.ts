import { errors } from '../errors.js'
import { valueKindOf } from '../model/column.js'
import { parseValue } from '../model/key.js'
import type { Model } from '../model/define-model.js'
import { maxKeyLength } from '../values/field-options.js'
import type { Json, RecordKey } from '../values/values.js'

/**
 * Returns the primary key in a path; throws REST_MODELS_RECORD_NOT_FOUND (404) if it is no key.
 *
 * @param text  the decoded segment of the path
 * @param url   the path as it was sent
 */
export type PlanKey = (text: string, url: string) => RecordKey

/**
 * Compiles how the text of a model's primary key is read. A key is a decimal integer from 0 to 2^53-1, a UUID, or any
 * text of 1 to 100 characters. Engines would round or cut another text to the key of another record.
 */
export function compilePlanKey ({ primaryKey: key }: Model): PlanKey {
  const { parse } = valueKindOf(key)
  const fits = key.kind === 'text' ? fitsPath : isNotNegative
  const read: (text: string, url: string) => Json | undefined = key.parts === undefined
    ? (text) => fits(text) ? parse(text, key.options) : undefined
    : (text, url) => parseValue(key, idIn(url, text))
  return (text, url) => {
    const value = read(text, url)
    if (value === undefined) throw new errors.RecordNotFound()
    return value as RecordKey
  }
}

/**
 * Returns an id of several values from a path. The values in it are percent-encoded, so a path may have the id as it
 * is, or percent-encoded once more as clients do with every text. Only the first has commas that are not encoded. The
 * router decodes nothing before the path: a client may send a whole URL.
 */
function idIn (url: string, decoded: string): string {
  const [path = ''] = url.split(/[?;#]/, 1)
  const segment = String(path.split('/').findLast((part) => part !== ''))
  return segment.includes(',') && decodeURIComponent(segment) === decoded ? segment : decoded
}

function fitsPath (text: string): boolean {
  // A character has one or two UTF-16 units. The host decides how long a text its router takes.
  return text !== '' && text.length <= 2 * maxKeyLength && [...text].length <= maxKeyLength
}

function isNotNegative (text: string): boolean {
  return !text.startsWith('-')
}
