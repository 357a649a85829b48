import { isOrderable, valueKindOf, type Column } from '../../model/column.js'
import { operations, type Operation } from '../../policy/operations.js'
import type { Resource } from '../../resource/resource.js'
import { audienceOf, isMember, wider, type Audience } from './audience.js'
import { fixedColumns } from './fixed-columns.js'
import { visibleRecordsOf } from './visible-records.js'

/**
 * Who may change a record: an audience, or for a resource with an owner field only the owner of the record. `owner`
 * means any user who owns the record; the last two mean only owners who are also in the named audience.
 */
export type Changer = Audience | 'owner' | 'admins who own it' | 'some users who own it'

/**
 * Who may use one field: `read` it in answers, `filter` and `order` lists by it, and write it in the body of a `create`
 * or an `update`. If the scope permits each user only one value of the field, no user can choose the value, so `create`
 * and `update` are `nobody`.
 */
export interface FieldPermissions {
  readonly field: string
  readonly read: Audience
  readonly filter: Audience
  readonly order: Audience
  readonly create: Audience
  readonly update: Changer
}

/** Who may do the operations of a resource, and use its fields. The fields are in the order of the model. */
export interface ResourcePermissions {
  readonly resource: string
  readonly operations: Readonly<Record<Operation, Changer>>
  /**
   * Operations that at least one sort of user (not logged in, logged in, admin) may do, but, because of the scope, not
   * with every record.
   */
  readonly scoped: readonly Operation[]
  readonly fields: readonly FieldPermissions[]
}

/** Returns the permissions of a resource. With an owner field, they name only owners for `update` and `delete`. */
export function permissionsOf (resource: Resource): ResourcePermissions {
  const { name, model, owner } = resource
  const own = audiencesOf(resource)
  const permissionsOn = fieldPermissions(resource)
  const bounded = visibleRecordsOf(resource).filter(({ sees }) => sees !== 'everything')
  const owned = (audience: Audience) => owner === undefined ? audience : owning(audience)
  return {
    resource: name,
    operations: { ...own, update: owned(own.update), delete: owned(own.delete) },
    scoped: operations.filter((operation) =>
      bounded.some(({ user }) => isMember(own[operation], { name: user }))),
    fields: model.columns.map((column) => {
      const { read, filter, order, create, update } = permissionsOn(column)
      return { field: column.field, read, filter, order, create, update: owned(update) }
    })
  }
}

function owning (audience: Audience): Changer {
  if (audience === 'nobody') return audience
  return audience === 'admins' || audience === 'some users' ? `${audience} who own it` : 'owner'
}

/** Returns who may do each operation of a resource, without regard to owners. */
export function audiencesOf ({ policy }: Resource): Readonly<Record<Operation, Audience>> {
  return {
    list: audienceOf(policy, 'list'),
    read: audienceOf(policy, 'read'),
    create: audienceOf(policy, 'create'),
    update: audienceOf(policy, 'update'),
    delete: audienceOf(policy, 'delete')
  }
}

/** Returns a function that says who may read, write, filter and order by a field, without regard to owners. */
export function fieldPermissions (
  resource: Resource
): (column: Column) => Readonly<Record<'read' | 'filter' | 'order' | 'create' | 'update', Audience>> {
  const { visible, filterable, writable, creatable } = resource
  const { read, list: listing, create, update } = audiencesOf(resource)
  const fixed = { create: fixedColumns(resource, create), update: fixedColumns(resource, update) }
  const only = (isTrue: boolean, audience: Audience): Audience => isTrue ? audience : 'nobody'
  return (column) => {
    const isOpen = filterable.has(column)
    return {
      read: only(visible.includes(column), wider(read, listing)),
      filter: only(isOpen && valueKindOf(column).operators.length > 0, listing),
      order: only(isOpen && isOrderable(column), listing),
      create: only(creatable.has(column) && !fixed.create.includes(column), create),
      update: only(writable.has(column) && !fixed.update.includes(column), update)
    }
  }
}
