import { errors, fieldError } from '../errors.js'
import { valueKindOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { keySuggestion } from '../model/key.js'
import { reservedParameters } from '../request/list-query.js'
import { unknownParameter } from '../request/query-string.js'
import { firstCandidates, typoSuggestion } from '../suggest.js'
import type { ListRules } from './list-rules.js'
import { pathName, permittedPath, splitName } from './path.js'
import { permittedPaths } from './permitted-paths.js'

/**
 * Returns the error for a filter such as `age__more`, whose name leads to no permitted column. If the parts before the
 * last, here `age`, lead to a permitted column that is no foreign key, the last part can only be meant as an operator.
 * So the error then lists the operators of that column.
 */
export function unknownName (rules: ListRules, name: string, closed: ReadonlySet<Model>): Error {
  const { names } = splitName(name)
  const shorter = permittedPath(rules, names.slice(0, -1), closed)
  if (shorter !== undefined && shorter.column.target === undefined) return unknownOperator(name, shorter.column)
  const ofKey = keySuggestion(rules.model, names.join('__'), rules.filterable)
  if (ofKey !== undefined) return unknownParameter(name, ofKey)
  const reserved = reservedParameters.filter((parameter) => parameter !== 'search' || rules.searched.length > 0)
  // The name of a hidden field must not be suggested.
  const permitted = firstCandidates(permittedPaths(rules, rules.limits.joins, closed)).map(pathName)
  return unknownParameter(name, typoSuggestion(names.join('__'), [...reserved, ...permitted]))
}

/** Returns the error for an operator that a field does not have. */
export function unknownOperator (name: string, column: Column): Error {
  return fieldError(
    errors.UnknownOperator, name, `must end in an operator of its field: ${valueKindOf(column).operators.join(', ')}`)
}
