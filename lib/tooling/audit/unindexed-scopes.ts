import type { ForeignKeyColumn } from '../../model/column.js'
import { pathName } from '../../plan/path.js'
import type { Model } from '../../model/define-model.js'
import { planList } from '../../plan/plan-list.js'
import { unscoped, type Scope, type ScopeCondition } from '../../plan/viewer.js'
import { parseListQuery } from '../../request/list-query.js'
import { madeUpUsers } from '../../policy/made-up-users.js'
import type { Resource } from '../../resource/resource.js'
import { isMember } from './audience.js'
import { isSought } from './explain.js'
import { audiencesOf } from './permissions.js'
import { sampleValues } from '../../plan/sample.js'
import { evaluate } from './visible-records.js'

/**
 * Returns the scopes of those {@link madeUpUsers} who may list a resource and see records there; none if the resource
 * has no scope. A scope that fails counts as one without conditions. The scope of an admin is returned only if there is
 * no scope of another user, because admins are few.
 */
export function listedScopes (resource: Resource): readonly Scope[] {
  const { policy, scopeRule } = resource
  if (scopeRule === undefined) return []
  const { list } = audiencesOf(resource)
  const listing = madeUpUsers(policy).filter((user) => isMember(list, user))
    .map(({ name, ...user }) => ({ name, ...evaluate(scopeRule, { name, ...user }) }))
    .filter(({ outcome }) => outcome.sees !== 'nothing')
  const others = listing.filter(({ name }) => name !== 'admin')
  return (others.length > 0 ? others : listing).map(({ scope }) => scope)
}

/**
 * Returns the names of all fields and paths, such as `project__company`, in the conditions of those scopes in which no
 * index serves any condition. To find out, the database is asked for the plan of a list with each condition. The list
 * itself is not run.
 */
export async function unindexedScopes (resource: Resource, scopes: readonly Scope[]): Promise<readonly string[]> {
  const names = new Set<string>()
  for (const scope of scopes) {
    const isServed = await Promise.all(scope.map(async (condition) => await isConditionSought(resource, condition)))
    if (!isServed.includes(true)) for (const { path } of scope) names.add(pathName(path))
  }
  return [...names]
}

/**
 * True if indexes find the records that meet a condition: one on its column and one on each foreign key of its path.
 */
async function isConditionSought (resource: Resource, condition: ScopeCondition): Promise<boolean> {
  const { joins, column } = condition.path
  // A primary key always has an index.
  const isKey = column === (joins.at(-1)?.target() ?? resource.model).primaryKey
  const hops = joins.map((join, index) => references(joins.slice(0, index), join))
  for (const wanted of isKey ? hops : [...hops, condition]) {
    const viewer = { ...unscoped, closed: new Set<Model>(), scope: [wanted] }
    const plan = planList(resource, parseListQuery('', 0, resource.maxLimit), viewer)
    if (!await isSought(resource, plan)) return false
  }
  return true
}

/**
 * Returns a condition for a list that is only planned: the foreign key `column`, at the end of `joins`, refers to a
 * record whose key is a sample value.
 */
function references (joins: ScopeCondition['path']['joins'], column: ForeignKeyColumn): ScopeCondition {
  return { path: { joins, column }, operator: 'eq', values: sampleValues(column) }
}
