import type { JsonSchema } from '../../schemas/documentation.js'
import { includeNames } from '../plan/permitted-includes.js'
import type { Resource } from '../resource/resource.js'

/**
 * Most paths that the documentation of `include` names. If there are more, it names none; requests may still use all.
 */
const maxNamed = 100

/** Returns the query parameter `include`, which names related records; an empty object if clients may name none. */
export function includeParameter (resource: Resource): Readonly<Record<string, JsonSchema>> {
  const names: string[] = []
  for (const name of includeNames(resource, resource.closedModels)) if (names.push(name) > maxNamed) break
  if (names.length === 0) return {}
  return {
    include: {
      type: 'array',
      items: { type: 'string', ...(names.length <= maxNamed && { enum: names }) },
      description: 'Related records to add, by the names of the foreign keys; `__` joins a path'
    }
  }
}
