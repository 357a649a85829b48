import type { Model } from '../model/define-model.js'
import { fixedBy } from '../plan/plan-guarded-write.js'
import { furtherUsers, madeUpUsers } from './made-up-users.js'
import type { AnyPolicy, Identity } from './policy.js'
import { protectionOf } from './protection.js'
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
 * records ({@link fixedBy}). A field counts if the scope fixes it for any user that is made up here: those of
 * {@link madeUpUsers} and {@link furtherUsers}. Each property of a user counts as one value, although it may be a list.
 * The result is empty if there is no scope. Users for whom the scope fails do not count.
 */
export function fixableBy ({ model, policy, scopeRule: rule }: Scoped): ReadonlySet<string> {
  if (rule === undefined) return new Set()
  const scopeOf: ScopeRule['scope'] = (user) => withTypedValues(model, rule.scope(user))
  const fixedFor = (user: Identity | null): readonly string[] => {
    try {
      const scope = scopeFor({ ...rule, scope: scopeOf }, user)
      return [...fixedBy({ scope }, { model }).keys()].map(({ key }) => key)
    } catch {
      return []
    }
  }
  const users = [...madeUpUsers(policy).map(({ identity }) => identity), ...furtherUsers(policy)]
  const creators = users.filter((user) => user !== null || protectionOf(policy, 'create') === 'open')
  return new Set(creators.flatMap(fixedFor))
}
