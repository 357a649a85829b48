import { splitName } from '../plan/path.js'
import { madeUpUser } from '../policy/made-up-users.js'
import type { Resource } from '../resource/resource.js'
import { ignoreRejection } from '../values/promises.js'

/**
 * Returns the keys of the fields that the scope of a resource may fix to one value, so that the server sets them. The
 * scope is asked about a made-up user who is no admin. If the scope fails for that user, the result is empty.
 */
export function fixableBy (
  { model, policy, scopeRule }: Pick<Resource, 'model' | 'policy' | 'scopeRule'>
): ReadonlySet<string> {
  const given = scopeRule === undefined ? {} : outcomeOf(() => scopeRule.scope(madeUpUser(policy, false).identity))
  const columns = Object.keys(given).map((name) => {
    const { names: [field = '', ...others], operator } = splitName(name)
    return others.length === 0 && operator === 'eq' ? model.byName.get(field) : undefined
  })
  // A scope never fixes the primary key.
  return new Set(columns.flatMap((column) => column === undefined || column === model.primaryKey ? [] : [column.key]))
}

function outcomeOf (evaluate: () => unknown): object {
  try {
    const given = evaluate()
    ignoreRejection(given)
    return Object(given)
  } catch {
    return {}
  }
}
