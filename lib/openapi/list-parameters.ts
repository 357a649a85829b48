import type { JsonSchema } from '../../schemas/documentation.js'
import { isOrderable } from '../model/column.js'
import type { ListRules } from '../plan/list-rules.js'
import { maxWords } from '../plan/plan-search.js'
import type { Resource } from '../resource/resource.js'
import { shareSchema, type OpenApiDocument } from './document.js'
import type { DocumentedFilter } from './filters.js'
import { includeParameter } from './include-parameter.js'

/**
 * Returns the query parameters of a list: page, ordering, related records, count, search and filters. None of them is
 * required. Swagger UI fills defaults and examples into its form, and sends them with each request. So only `limit` has
 * a default, and no parameter has an example.
 */
export function listParameters (
  document: OpenApiDocument, resource: Resource, filters: readonly DocumentedFilter[]
): JsonSchema {
  const filterParameters =
    filters.map(({ name, shared, schema }) => [name, shareSchema(document, shared, schema)] as const)
  return {
    type: 'object',
    properties: {
      ...placeParameters(resource),
      ordering: orderingParameter(resource),
      ...includeParameter(resource),
      count: countParameter(resource),
      ...searchParameter(resource),
      ...Object.fromEntries(filterParameters)
    }
  }
}

function placeParameters ({ defaultLimit, maxLimit, limits }: ListRules): JsonSchema {
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

function orderingParameter ({ filterable }: ListRules): JsonSchema {
  const names = [...filterable].filter(isOrderable).flatMap(({ field, key }) => [...new Set([field, key])])
  const order = `-?(${names.join('|')})`
  return {
    type: 'string',
    pattern: `^(${order}(,${order})*)?$`,
    description: `Columns separated by commas, each descending with a hyphen before it, such as \`-${names[0]}\`; ` +
      'the primary key always comes last'
  }
}

function countParameter ({ limits }: ListRules): JsonSchema {
  return {
    type: 'string',
    enum: ['true'],
    description: `Adds the number of records on all pages to \`meta\`, exact up to ${limits.count}`
  }
}

function searchParameter ({ searched, limits }: ListRules): JsonSchema {
  if (searched.length === 0) return {}
  const names = searched.map(({ field }) => `\`${field}\``).join(', ')
  const word = `\\S{1,${limits.patternLength}}`
  return {
    search: {
      type: 'string',
      pattern: `^\\s*(${word}(\\s+${word}){0,${maxWords - 1}}\\s*)?$`,
      description: `Words that must each occur in one of the fields ${names}`
    }
  }
}
