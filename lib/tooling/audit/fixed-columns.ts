import type { Column } from '../../model/column.js'
import { fixedBy } from '../../plan/plan-guarded-write.js'
import { madeUpUsers, type MadeUpUser } from '../../policy/made-up-users.js'
import type { ScopeRule } from '../../policy/visibility.js'
import type { Resource } from '../../resource/resource.js'
import { isMember, type Audience } from './audience.js'
import { evaluate } from './visible-records.js'

/**
 * Returns the columns for which the scope of a resource permits each user of an audience only one value, so that no
 * user chooses the value. A property of the user, such as `user.company`, counts as one value. Returns none if there is
 * no scope.
 */
export function fixedColumns (resource: Resource, audience: Audience): readonly Column[] {
  const { policy, scopeRule } = resource
  if (scopeRule === undefined) return []
  const [first = [], ...others] = madeUpUsers(policy)
    .filter((user) => isMember(audience, user))
    .map((user) => fixedFor(resource, scopeRule, user))
  return first.filter((column) => others.every((other) => other.includes(column)))
}

/**
 * Returns the columns for which a scope permits the given user, one of the {@link madeUpUsers}, only one value. Returns
 * none if the scope reads a property of the user, such as a role, but does not return it as a value. With another role,
 * the scope may return other conditions. The scope may read a flag for admins, because the caller asks about users with
 * the flag and about users without it.
 */
function fixedFor (resource: Resource, rule: ScopeRule, user: MadeUpUser): readonly Column[] {
  const { scope, dependsOn } = evaluate(rule, user)
  const single = scope.filter(({ operator }) => operator !== 'in')
  return dependsOn.length > 0 ? [] : [...fixedBy({ scope: single }, resource).keys()]
}
