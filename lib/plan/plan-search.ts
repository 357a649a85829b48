import { errors, fieldError } from '../errors.js'
import { fieldKinds } from '../fields/field-kinds.js'
import type { Model } from '../model/define-model.js'
import { unknownParameter } from '../request/query-string.js'
import { wordsOf } from '../request/search-words.js'
import { storableText } from '../values/values.js'
import type { ListRules } from './list-rules.js'
import { permittedPath } from './path.js'

/** Words that one search may have. Each word costs a comparison with each searched field of each row. */
export const maxWords = 5

const parameter = 'search'

/**
 * Returns a pattern for each word of a search, which matches a text that contains the word. An empty search has none.
 *
 * @param texts   texts of the parameter `search`, at least one
 * @param closed  related models that the client may not list
 * @throws REST_MODELS_UNKNOWN_PARAMETER (400) if the resource has no fields to search; REST_MODELS_INVALID_VALUE (400)
 *   if there are several texts, too many words, or a word that is too long or that no text can contain
 */
export function planSearch (
  rules: ListRules, texts: readonly string[], closed: ReadonlySet<Model>
): readonly string[] {
  const [text = '', second] = texts
  if (rules.searched.length === 0) throw unknownSearch(rules, closed)
  if (second !== undefined) throw invalidSearch('must be given once')
  const words = wordsOf(text)
  if (words.length > maxWords) throw invalidSearch(`must have at most ${maxWords} words`)
  const { patternLength } = rules.limits
  if (words.some((word) => word.length > patternLength)) {
    throw invalidSearch(`must have words of at most ${patternLength} characters`)
  }
  if (storableText(text) === undefined) throw invalidSearch(`must be ${fieldKinds.text.expects}`)
  return words.map((word) => `%${word.replace(/[%_\\]/g, '\\$&')}%`)
}

/**
 * Returns the error for a search on a resource that has no fields to search. If the resource has a field `search`, the
 * client may have meant a filter by that field, so the error suggests `search__eq`.
 */
function unknownSearch (rules: ListRules, closed: ReadonlySet<Model>): Error {
  const isField = permittedPath(rules, [parameter], closed) !== undefined
  return unknownParameter(parameter, isField ? `, did you mean '${parameter}__eq'?` : '')
}

function invalidSearch (message: string): Error {
  return fieldError(errors.InvalidValue, parameter, message)
}
