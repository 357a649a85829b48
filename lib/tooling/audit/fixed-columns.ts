import type { Column } from '../../model/column.js'
import { fixedBy } from '../../plan/plan-guarded-write.js'
import { placeholderName, type MadeUpUser } from '../../policy/made-up-users.js'
import type { ScopeRule } from '../../policy/visibility.js'
import type { Resource } from '../../resource/resource.js'
import { isMember, looksForAdmin, watched, type Audience } from './audience.js'
import { evaluate, madeUpUsers } from './visible-records.js'

/**
 * Returns the columns of a resource that its scope fixes to one value for each user of an audience, so that none of
 * these users chooses the value. A property of a user counts as one value.
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
 * Returns the columns that a scope fixes for a made-up user. None if the scope looks at more of the user than it
 * returns, such as a role: then it may return other conditions for other users. Flags for admins do not count, because
 * both an admin and another user are made up.
 */
function fixedFor (resource: Resource, rule: ScopeRule, user: MadeUpUser): readonly Column[] {
  const isAdminLook = looksForAdmin(resource.policy)
  const looks: string[] = []
  let given: unknown
  const scopeOf: ScopeRule['scope'] = (identity) => {
    given = rule.scope(identity && watched(identity, (name) => { if (!isAdminLook(name)) looks.push(String(name)) }))
    return given
  }
  const { scope } = evaluate({ ...rule, scope: scopeOf }, user)
  for (const value of Object.values(Object(given)).flat()) {
    const [, name] = (placeholderName(value) ?? user.names.get(value))?.split('.') ?? []
    if (name !== undefined && looks.includes(name)) looks.splice(looks.indexOf(name), 1)
  }
  const single = scope.filter(({ operator }) => operator !== 'in')
  return looks.length > 0 ? [] : [...fixedBy({ scope: single }, resource).keys()]
}
