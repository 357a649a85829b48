import { notNull } from '../fields/operators.js'
import type { Model } from '../model/define-model.js'
import { splitName } from '../plan/path.js'
import { ignoreRejection } from '../values/promises.js'
import { madeUpUser } from './made-up-users.js'
import type { AnyPolicy } from './policy.js'
import type { ScopeRule } from './visibility.js'

/** The parts of a resource that decide which fields its scope sets in new records. */
interface Scoped {
  readonly model: Model
  readonly policy: AnyPolicy
  readonly scopeRule: ScopeRule | undefined
}

/**
 * Returns the keys of the fields that the scope of a resource may fix to one value, so that the server sets them in new
 * records. The scope is asked about a user who is no admin, made up by {@link madeUpUser}. The result is empty if there
 * is no scope, or if it fails for that user.
 */
export function fixableBy ({ model, policy, scopeRule }: Scoped): ReadonlySet<string> {
  const given = scopeRule === undefined ? {} : outcomeOf(() => scopeRule.scope(madeUpUser(policy, false).identity))
  const columns = Object.entries(given).map(([name, value]) => {
    const { names: [field = '', ...others], operator } = splitName(name)
    return others.length === 0 && isOneValue(operator, value) ? model.byName.get(field) : undefined
  })
  // A scope never fixes the primary key.
  return new Set(columns.flatMap((column) => column === undefined || column === model.primaryKey ? [] : [column.key]))
}

/** True if a condition permits one value alone. For `eq`, a property of a made-up user counts as one value. */
function isOneValue (operator: string, value: unknown): boolean {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (values.length !== 1) return false
  return operator === 'eq' || (operator === 'in' && Array.isArray(value)) ||
    (operator === 'is' && values[0] !== notNull)
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
