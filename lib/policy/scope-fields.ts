import type { Model } from '../model/define-model.js'
import { splitName } from '../plan/path.js'
import { ignoreRejection } from '../values/promises.js'
import { madeUpUser } from './made-up-users.js'
import type { AnyPolicy } from './policy.js'
import type { ScopeRule } from './visibility.js'

/** The parts of a resource that decide what its scope sets. */
interface Scoped {
  readonly model: Model
  readonly policy: AnyPolicy
  readonly scopeRule: ScopeRule | undefined
}

/**
 * Returns the keys of the fields that the scope of a resource may fix to one value, so that the server sets them. The
 * scope is asked about a made-up user who is no admin. If the scope fails for that user, the result is empty.
 */
export function fixableBy ({ model, policy, scopeRule }: Scoped): ReadonlySet<string> {
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
