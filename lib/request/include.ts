import { errors } from '../errors.js'
import { parseEntries, single, splitAtCommas, unknownParameter } from './query-string.js'

/** Name of the parameter that lists the related records to read. */
export const includeParameter = 'include'

/**
 * Parses the query string of a request for one record. It has no parameter but `include`.
 *
 * @returns the paths of related records, as the client wrote them; an empty list if there are none
 * @throws REST_MODELS_QUERY_TOO_LONG (414), REST_MODELS_INVALID_QUERY (400), REST_MODELS_UNKNOWN_PARAMETER (400) naming
 *   the first other parameter, REST_MODELS_INVALID_INCLUDE (400) if `include` is given twice
 */
export function parseReadQuery (query: string, maxLength: number): readonly string[] {
  const entries = parseEntries(query, maxLength)
  const other = entries.find(([name]) => name !== includeParameter)
  if (other !== undefined) throw unknownParameter(other[0])
  return splitAtCommas(single(entries, includeParameter, errors.InvalidInclude))
}
