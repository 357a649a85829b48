import { errors } from '../errors.js'
import { parseEntries, single, unknownParameter, type Entries } from './query-string.js'

/** Name of the parameter that lists the related records to read. */
export const includeParameter = 'include'

/**
 * Returns the paths that the parameter `include` lists, as the client wrote them; an empty list if it is absent or
 * empty.
 *
 * @throws REST_MODELS_INVALID_INCLUDE (400) if it is given twice
 */
export function writtenIncludes (entries: Entries): readonly string[] {
  const text = single(entries, includeParameter, errors.InvalidInclude)
  return text === undefined || text === '' ? [] : text.split(',')
}

/**
 * Reads the query of one record, which has no parameter but `include`.
 *
 * @throws REST_MODELS_QUERY_TOO_LONG (414), REST_MODELS_INVALID_QUERY (400), REST_MODELS_UNKNOWN_PARAMETER (400) naming
 *   the first other parameter, REST_MODELS_INVALID_INCLUDE (400)
 */
export function parseReadQuery (query: string, maxLength: number): readonly string[] {
  const entries = parseEntries(query, maxLength)
  const other = entries.find(([name]) => name !== includeParameter)
  if (other !== undefined) throw unknownParameter(other[0])
  return writtenIncludes(entries)
}
