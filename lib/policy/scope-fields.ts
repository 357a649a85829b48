import type { Model } from '../model/define-model.js'
import { fixedBy } from '../plan/plan-guarded-write.js'
import { madeUpUser } from './made-up-users.js'
import type { AnyPolicy } from './policy.js'
import { withTypedValues } from './typed-scope.js'
import { scopeFor, type ScopeRule } from './visibility.js'

/** The parts of a resource that decide which fields its scope sets in new records. */
interface Scoped {
  readonly model: Model
  readonly policy: AnyPolicy
  readonly scopeRule: ScopeRule | undefined
}

/**
 * Returns the keys of the fields that the scope of a resource may fix to one value, so that the server sets them in new
 * records ({@link fixedBy}). The scope is asked about a user who is no admin, made up by {@link madeUpUser}. Each
 * property of that user counts as one value, although it may be a list. The result is empty if there is no scope, or if
 * it fails for that user.
 */
export function fixableBy ({ model, policy, scopeRule: rule }: Scoped): ReadonlySet<string> {
  if (rule === undefined) return new Set()
  const scopeOf: ScopeRule['scope'] = (user) => withTypedValues(model, rule.scope(user))
  try {
    const scope = scopeFor({ ...rule, scope: scopeOf }, madeUpUser(policy, false).identity)
    return new Set([...fixedBy({ scope }, { model }).keys()].map(({ key }) => key))
  } catch {
    return new Set()
  }
}
