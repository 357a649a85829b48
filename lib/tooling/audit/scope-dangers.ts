import { isForeignKey } from '../../model/column.js'
import { hidingResource } from '../../policy/hiding-resource.js'
import { madeUpUsers, nobody } from '../../policy/made-up-users.js'
import type { Operation } from '../../policy/operations.js'
import { knowsUsersOf } from '../../policy/protection.js'
import type { ScopeRule } from '../../policy/visibility.js'
import type { Resource } from '../../resource/resource.js'
import { isMember, isWide } from './audience.js'
import type { Danger } from './danger.js'
import { audiencesOf } from './permissions.js'
import { evaluate, visibleRecordsOf } from './visible-records.js'

/** A resource with a scope. */
type Scoped = Resource & { readonly scopeRule: ScopeRule }

/** Returns the dangers in the scope of a resource, or in the lack of a scope if other resources have one. */
export function scopeDangers (resource: Resource, all: readonly Resource[]): readonly Danger[] {
  if (isScoped(resource)) return [...excessDangers(resource), ...unknownDangers(resource)]
  return [...leakDangers(resource, all.filter(isScoped)), ...referenceDangers(resource, hidingResource(resource, all))]
}

function isScoped (resource: Resource): resource is Scoped {
  return resource.scopeRule !== undefined
}

/**
 * Returns a danger if a scope shows every record to clients that are not logged in, but not to users, or every record
 * to users, but not to admins. Those who may neither list nor read the resource do not count.
 */
function excessDangers (resource: Scoped): readonly Danger[] {
  const audiences = audiencesOf(resource)
  const readers = visibleRecordsOf(resource).filter(({ user }) =>
    [audiences.list, audiences.read].some((audience) => isMember(audience, { name: user })))
  const sees = (name: string) => readers.find(({ user }) => user === name)?.sees
  const isBounded = (name: string): boolean => ['some', 'nothing'].includes(String(sees(name)))
  const excess = (who: string, others: string): Danger =>
    ({ resource: resource.name, why: `its scope shows every record to ${who}, but not to ${others}` })
  return [
    ...sees('nobody') === 'everything' && isBounded('user') ? [excess('anybody without a login', 'users')] : [],
    ...sees('user') === 'everything' && isBounded('admin') ? [excess('users', 'admins')] : []
  ]
}

/**
 * Returns a danger if a scope shows every record to a user whose properties, such as a role, have values that it cannot
 * know, and fewer to others. A role that is added later would then see every record.
 */
function unknownDangers (resource: Scoped): readonly Danger[] {
  return visibleRecordsOf(resource)
    .filter(({ user, sees, dependsOn }) => user === 'user' && sees === 'everything' && dependsOn.length > 0)
    .map(({ dependsOn }) => {
      const why = `its scope shows every record if ${dependsOn.join(' or ')} is a value that it does not know`
      return { resource: resource.name, why }
    })
}

/**
 * Returns the dangers in the lack of a scope: users may read or change records of this resource although the scope of
 * another resource hides the same records, or records to which these refer.
 */
function leakDangers (resource: Resource, scoped: readonly Scoped[]): readonly Danger[] {
  const { name, model, relatedScopes } = resource
  const twins = scoped.filter((other) => other.model === model).flatMap((other) => {
    const who = unboundedUsers(resource, other.scopeRule)
    const why = `has no scope, but resource '${other.name}' of the same model has one: ${who} all records`
    return who === '' ? [] : [{ resource: name, why }]
  })
  const neighbours = model.columns.filter(isForeignKey).flatMap(({ field, target }) => {
    const other = scoped.find(({ scopeRule }) => target() !== model && scopeRule === relatedScopes.get(target())?.rule)
    const who = other === undefined ? '' : unboundedUsers(resource, other.scopeRule)
    if (other === undefined || who === '') return []
    const why = `refers to resource '${other.name}', which has a scope, but has none itself: ${who} all records`
    return [{ resource: name, field, why }]
  })
  return [...twins, ...neighbours]
}

/**
 * Returns a danger if clients may refer to records that the scope of a later resource of the same model hides. The
 * first resource of a model decides which records foreign keys may refer to. If it has no scope, these are all records.
 *
 * @param hiding  that later resource, if there is one
 */
function referenceDangers ({ name }: Resource, hiding: Resource | undefined): readonly Danger[] {
  if (hiding === undefined) return []
  return [{
    resource: name,
    why: 'is the first resource of its model and has no scope, so clients may refer to records that the scope of ' +
      `resource '${hiding.name}' hides from them: register that one first`
  }]
}

/**
 * Returns which users may do what with all records of a resource, although the scope of another resource hides records
 * from these users: `users may list, read`. Returns an empty text if there are no such users. Admins do not count.
 *
 * @param rule  scope of the other resource
 */
function unboundedUsers (resource: Resource, rule: ScopeRule): string {
  const { policy, owner } = resource
  const isKnown = knowsUsersOf(rule.policy, policy)
  const bounded = madeUpUsers(policy).filter((user) => {
    const { outcome: { sees }, dependsOn } = evaluate(rule, isKnown ? user : nobody)
    return user.name !== 'admin' && (sees !== 'everything' || dependsOn.length > 0)
  })
  const audiences = audiencesOf(resource)
  // A create shows no other record. If records have owners, only the owner may change or delete a record.
  const others: readonly Operation[] = owner === undefined ? ['list', 'read', 'update', 'delete'] : ['list', 'read']
  const leaking = others.filter((operation) =>
    isWide(audiences[operation]) && bounded.some((user) => isMember(audiences[operation], user)))
  return [...new Set(leaking.map((operation) => audiences[operation]))].map((audience) =>
    `${audience} may ${leaking.filter((operation) => audiences[operation] === audience).join(', ')}`).join(' and ')
}
