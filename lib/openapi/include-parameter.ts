import type { JsonSchema } from '../../schemas/documentation.js'
import { includeNames } from '../plan/permitted-includes.js'
import type { Resource } from '../resource/resource.js'

/** Most paths that the documentation of `include` names. With more, it names none, but requests may use them all. */
const maxListed = 100

/** Returns the query parameter that names related records; none if there are none that a client may name. */
export function includeParameter (resource: Resource): Readonly<Record<string, JsonSchema>> {
  const names: string[] = []
  for (const name of includeNames(resource, resource.closedModels)) if (names.push(name) > maxListed) break
  if (names.length === 0) return {}
  return {
    include: {
      type: 'array',
      items: { type: 'string', ...(names.length <= maxListed && { enum: names }) },
      description: 'Related records to add, by the names of the foreign keys; `__` joins a path'
    }
  }
}
