import type { JsonSchema } from '../../schemas/documentation.js'
import { isOrderable } from '../model/column.js'
import type { ListScope } from '../plan/list-scope.js'
import type { Resource } from '../resource/resource.js'
import { shareSchema, type OpenApiDocument } from './document.js'
import type { DocumentedFilter } from './filters.js'
import { includeParameter } from './include-parameter.js'

/** Returns the query parameters of a list: page, ordering, related records and filters. None of them is required. */
export function listParameters (
  document: OpenApiDocument, scope: Resource, filters: readonly DocumentedFilter[]
): JsonSchema {
  const filterParameters =
    filters.map(({ name, shared, schema }) => [name, shareSchema(document, shared, schema)] as const)
  return {
    type: 'object',
    properties: {
      ...placeParameters(scope),
      ordering: orderingParameter(scope),
      ...includeParameter(scope),
      ...Object.fromEntries(filterParameters)
    }
  }
}

function placeParameters ({ defaultLimit, maxLimit, limits }: ListScope): JsonSchema {
  return {
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: maxLimit,
      default: defaultLimit,
      description: 'Records per page; there are fewer if they are long'
    },
    page: {
      type: 'integer',
      minimum: 1,
      description: `Number of the page, 1 if absent; at most ${limits.offset} records can be skipped`
    },
    after: {
      type: 'string',
      description: 'Instead of `page`: empty for the first page, and what `meta.next` has for the next, ' +
        'however far away'
    }
  }
}

function orderingParameter ({ filterable }: ListScope): JsonSchema {
  const names = [...filterable].filter(isOrderable).flatMap(({ field, key }) => [...new Set([field, key])])
  const order = `-?(${names.join('|')})`
  return {
    type: 'string',
    pattern: `^(${order}(,${order})*)?$`,
    examples: [`-${names[0]}`],
    description: 'Columns separated by commas, each descending with a hyphen before it; ' +
      'the primary key always comes last'
  }
}
