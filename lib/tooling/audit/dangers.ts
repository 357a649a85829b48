import { isForeignKey, isSecret, type Column } from '../../model/column.js'
import type { Model } from '../../model/define-model.js'
import { looksSecret } from '../../model/secret-names.js'
import { pathName, type Path } from '../../plan/path.js'
import type { Policy } from '../../policy/policy.js'
import type { Resource } from '../../resource/resource.js'
import { audienceOf, includes, wider, type Audience } from './audience.js'
import { audiencesOf, fieldPermissions } from './permissions.js'

/** A permission that the deployer may not have intended. */
export interface Danger {
  readonly resource: string
  /** A field, or a path of its option `filterable`: `user__api_key`. Absent if the danger is in the whole resource. */
  readonly field?: string
  readonly why: string
}

/** Names of fields that give power over other users, such as `is_admin` or `roles`. */
const powerNames = /^(?:is_?)?(?:admin|administrator|superuser|super_?user|staff|root)$|^(?:roles?|permissions?)$/i

/** Returns the dangers in the resources of an app, grouped by resource. */
export function dangersOf (resources: readonly Resource[]): readonly Danger[] {
  const users = new Set(resources.flatMap(({ policy }) => policy.users ?? []))
  return resources.flatMap((resource) => [
    ...resourceDangers(resource, users),
    ...resource.model.columns.flatMap((column) =>
      fieldDangers(resource, column, resources)
        .map((why) => ({ resource: resource.name, field: column.field, why }))),
    ...pathDangers(resource)
  ])
}

/** True if an audience includes users who are not admins. Admins alone are no danger: they may do much anyway. */
function isWide (audience: Audience): boolean {
  return includes(audience, 'some users')
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
  if (users.has(model) && owner === undefined && isWide(update)) {
    found.push(`${update} may change other users, their passwords too`)
  }
  const refers = model.columns
    .filter((column) => isForeignKey(column) && users.has(column.target()))
    .map(({ field }) => field)
  const writing = [update, remove].find((audience) => isWide(audience) && audience !== 'anybody')
  if (!users.has(model) && owner === undefined && refers.length > 0 && writing !== undefined) {
    found.push(`${writing} may write each other's records: ` +
      `it refers to users by ${refers.join(', ')}, but has no ownerField`)
  }
  return found.map((why) => ({ resource: name, why }))
}

function fieldDangers (resource: Resource, column: Column, all: readonly Resource[]): readonly string[] {
  const { read, filter, create, update } = fieldPermissions(resource, column)
  const found: string[] = []
  if (looksSecret(column) && isWide(read)) found.push(`looks secret, and ${read} may read it`)
  if (looksSecret(column) && !isWide(read) && isWide(filter)) {
    found.push(`looks secret, and ${filter} can find its values out by filters`)
  }
  const writing = wider(create, update)
  const isPower = powerNames.test(column.field) || all.some(({ policy }) => flagOf(policy) === column)
  if (isPower && isWide(writing)) found.push(`gives power over others, and ${writing} may write it`)
  const owning = all.find(({ model, owner }) => model === resource.model && owner === column)
  if (owning !== undefined && isWide(writing)) {
    found.push(`says who owns a record in resource '${owning.name}', and ${writing} may write it here`)
  }
  return isSecret(column) && column.options.default !== undefined ? [...found, 'is a password with a default'] : found
}

/** Returns the column that tells a policy who is an admin, if any. The `login` of a custom policy may be any value. */
function flagOf ({ login }: Policy): unknown {
  return Object(Object(login).columns).admin
}

/** Returns a danger for each secret of another model whose path the option `filterable` lists. */
function pathDangers (resource: Resource): Danger[] {
  const { name, opened } = resource
  return [...opened.values()].filter(({ joins, column }) => joins.length > 0 && looksSecret(column)).flatMap((path) => {
    const audience = searchersOf(resource, path)
    if (!isWide(audience)) return []
    const why = `looks secret, and ${audience} can find its values out by filters`
    return [{ resource: name, field: pathName(path), why }]
  })
}

/** Returns the audience that may filter by a path: it must be able to list the resource and each model on the path. */
function searchersOf (resource: Resource, { joins }: Path): Audience {
  const { closedModels, guardedModels } = resource
  const { list } = audiencesOf(resource)
  if (joins.some(({ target }) => closedModels.has(target()))) return 'nobody'
  const guards = joins.flatMap(({ target }) => guardedModels.get(target()) ?? [])
    .map((policy) => audienceOf(policy, 'list'))
  return guards.reduce((narrow, guard) => includes(narrow, guard) ? guard : narrow, list)
}
