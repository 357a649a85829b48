import { isForeignKey, isSecret, type Column } from '../../model/column.js'
import type { Model } from '../../model/define-model.js'
import { looksSecret } from '../../model/secret-names.js'
import { pathName, type Path } from '../../plan/path.js'
import { isAdminFlag } from '../../policy/made-up-users.js'
import type { AnyPolicy } from '../../policy/policy.js'
import type { Resource } from '../../resource/resource.js'
import { audienceOf, includes, isWide, wider, type Audience } from './audience.js'
import type { Danger } from './danger.js'
import { audiencesOf, fieldPermissions } from './permissions.js'
import { scopeDangers } from './scope-dangers.js'
import { visibleRecordsOf } from './visible-records.js'

/** Matches the names of fields that give power over other users, in addition to flags such as `is_admin`. */
const powerNames = /^(?:roles?|permissions?)$/i

/** Returns the dangers in the resources of an app, grouped by resource. */
export function dangersOf (resources: readonly Resource[]): readonly Danger[] {
  const users = new Set(resources.flatMap(({ policy }) => policy.users ?? []))
  return resources.flatMap((resource) => [
    ...resourceDangers(resource, users),
    ...scopeDangers(resource, resources),
    ...fieldDangers(resource, resources),
    ...pathDangers(resource)
  ])
}

function resourceDangers (resource: Resource, users: ReadonlySet<Model>): Danger[] {
  const { name, model, owner } = resource
  const { create, update, delete: remove } = audiencesOf(resource)
  const open = Object.entries({ create, update, delete: remove })
    .filter(([, audience]) => audience === 'anybody')
    .map(([operation]) => operation)
  const found: string[] = []
  if (open.length > 0) found.push(`anybody may ${open.join(', ')} without logging in`)
  if (users.has(model) && create === 'anybody') found.push('anybody may create users who can log in')
  if (users.has(model) && owner === undefined && isWide(update) && !seesOnlyOwn(resource, model.primaryKey)) {
    const passwords = [...resource.writable].some(isSecret) ? ', their passwords too' : ''
    found.push(`${update} may change other users${passwords}`)
  }
  const writing = [update, remove].find((audience) => isWide(audience) && audience !== 'anybody')
  const refers = users.has(model) || owner !== undefined ? [] : referencesTo(users, resource)
  if (refers.length > 0 && writing !== undefined) {
    found.push(`${writing} may write each other's records: ` +
      `it refers to users by ${refers.join(', ')}, but has no ownerField`)
  }
  return found.map((why) => ({ resource: name, why }))
}

/**
 * Returns the fields of a resource that refer to users. Returns none if the scope shows each user only those records
 * that refer, by one of these fields, to this user.
 */
function referencesTo (users: ReadonlySet<Model>, resource: Resource): readonly string[] {
  const columns = resource.model.columns.filter((column) => isForeignKey(column) && users.has(column.target()))
  return columns.some((column) => seesOnlyOwn(resource, column)) ? [] : columns.map(({ field }) => field)
}

/**
 * True if the scope of a resource shows a user who is no admin only the records that have the user's id in the given
 * column.
 */
function seesOnlyOwn (resource: Resource, { field }: Column): boolean {
  return visibleRecordsOf(resource).some((seen) => seen.user === 'user' && seen.sees === 'some' &&
    seen.dependsOn.length === 0 && seen.conditions.includes(`${field} = user.id`))
}

function fieldDangers (resource: Resource, all: readonly Resource[]): readonly Danger[] {
  const permissionsOn = fieldPermissions(resource)
  return resource.model.columns.flatMap((column) => columnDangers(resource, column, { all, ...permissionsOn(column) })
    .map((why) => ({ resource: resource.name, field: column.field, why })))
}

interface Judged extends ReturnType<ReturnType<typeof fieldPermissions>> {
  readonly all: readonly Resource[]
}

function columnDangers (
  resource: Resource, column: Column, { all, read, filter, create, update }: Judged
): readonly string[] {
  const found: string[] = []
  if (looksSecret(resource.model, column)) {
    if (isWide(read)) found.push(`looks secret, and ${read} may read it`)
    else if (isWide(filter)) found.push(`looks secret, and ${filter} can find its values out by filters`)
  }
  const writing = wider(create, update)
  const isPower = isAdminFlag(column.field) || powerNames.test(column.field) ||
     all.some(({ policy }) => adminColumnOf(policy) === column)
  if (isPower && isWide(writing)) found.push(`gives power over others, and ${writing} may write it`)
  const owning = all.find(({ model, owner }) => model === resource.model && owner === column)
  if (owning !== undefined && isWide(writing)) {
    found.push(`says who owns a record in resource '${owning.name}', and ${writing} may write it here`)
  }
  return isSecret(column) && column.options.default !== undefined ? [...found, 'is a password with a default'] : found
}

/**
 * Returns the column by which a policy knows who is an admin; undefined if there is none. The type is `unknown` because
 * the `login` of a custom policy may be any value.
 */
function adminColumnOf ({ login }: AnyPolicy): unknown {
  return Object(Object(login).found).admin
}

/**
 * Returns a danger for each path in the option `filterable` that leads to a secret field of a related model, if others
 * than admins may filter by the path.
 */
function pathDangers (resource: Resource): Danger[] {
  const { name, opened } = resource
  const isSecretPath = ({ joins, column }: Path): boolean => {
    const model = joins.at(-1)?.target()
    return model !== undefined && looksSecret(model, column)
  }
  return [...opened.values()].filter(isSecretPath).flatMap((path) => {
    const audience = searchersOf(resource, path)
    if (!isWide(audience)) return []
    const why = `looks secret, and ${audience} can find its values out by filters`
    return [{ resource: name, field: pathName(path), why }]
  })
}

/**
 * Returns the audience that may filter by a path. Clients must be permitted to list the resource, and each model on the
 * path that has a resource. The result is the narrowest of the audiences that may do so. It is `nobody` if the path
 * leads through one of the `closedModels` of the resource.
 */
function searchersOf (resource: Resource, { joins }: Path): Audience {
  const { closedModels, guardedModels } = resource
  const { list } = audiencesOf(resource)
  if (joins.some(({ target }) => closedModels.has(target()))) return 'nobody'
  const guards = joins.flatMap(({ target }) => guardedModels.get(target()) ?? [])
    .map((policy) => audienceOf(policy, 'list'))
  return guards.reduce((narrow, guard) => includes(narrow, guard) ? guard : narrow, list)
}
