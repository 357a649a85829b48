import { errors } from '../errors.js'
import { valueKindNameOf, valueOptionsOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { indexedLengthOf, maxTextsLength } from '../model/unique-together.js'

/**
 * Checks that every engine can index the key of a new table and its fields that are unique together. Unlike
 * defineModel(), this also counts the texts in foreign keys, because all models are defined now.
 *
 * @throws REST_MODELS_INVALID_MODEL if the texts of an index have more than 600 characters together
 */
export function requireIndexable ({ name, primaryKey, uniqueTogether }: Model): void {
  for (const columns of [primaryKey.parts ?? [], ...uniqueTogether]) {
    const length = columns.reduce((total, column) => total + textLengthOf(column), 0)
    if (length <= maxTextsLength) continue
    const names = columns.map(({ field }) => field).join(', ')
    throw new errors.InvalidModel(`model '${name}': the texts of ${names}, which are one index, have ` +
      `${length} characters with those that foreign keys hold, but together at most ${maxTextsLength}, ` +
      "because an engine cannot index longer texts; give them or the keys a lower 'maxLength'")
  }
}

function textLengthOf (column: Column): number {
  return valueKindNameOf(column) === 'text' ? indexedLengthOf(valueOptionsOf(column)) : 0
}
