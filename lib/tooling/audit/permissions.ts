import { isGivenByOthers, isOrderable, valueKindOf, type Column } from '../../model/column.js'
import { operations, type Operation } from '../../policy/policy.js'
import type { Resource } from '../../resource/resource.js'
import { audienceOf, wider, type Audience } from './audience.js'

/** Who may change a record that has an owner: `owner` is whichever user owns it. */
export type Changer = Audience | 'owner' | 'admins who own it' | 'some users who own it'

/** Who may do what with a field of a resource. */
export interface FieldPermissions {
  readonly field: string
  readonly read: Audience
  readonly filter: Audience
  readonly order: Audience
  readonly create: Audience
  readonly update: Changer
}

/** Who may do what with a resource, and its fields in their order. */
export interface ResourcePermissions {
  readonly resource: string
  readonly operations: Readonly<Record<Operation, Changer>>
  readonly fields: readonly FieldPermissions[]
}

export function permissionsOf (resource: Resource): ResourcePermissions {
  const { registration: { name, model, owner } } = resource
  const own = audiencesOf(resource)
  const owned = (audience: Audience) => owner === undefined ? audience : owning(audience)
  return {
    resource: name,
    operations: { ...own, update: owned(own.update), delete: owned(own.delete) },
    fields: model.columns.map((column) => {
      const { read, filter, order, create, update } = fieldPermissions(resource, column)
      return { field: column.field, read, filter, order, create, update: owned(update) }
    })
  }
}

function owning (audience: Audience): Changer {
  if (audience === 'nobody') return audience
  return audience === 'admins' || audience === 'some users' ? `${audience} who own it` : 'owner'
}

/** The audience of each operation, whoever owns the record. */
export function audiencesOf ({ registration: { policy, model } }: Resource): Readonly<Record<Operation, Audience>> {
  const found = Object.fromEntries(operations.map((operation) => [operation, audienceOf(policy, operation)])) as Record<Operation, Audience>
  return isGivenByOthers(model.columns[0]) ? { ...found, create: 'nobody' } : found
}

/** The audiences of a field, whoever owns the record. */
export function fieldPermissions (resource: Resource, column: Column): Readonly<Record<'read' | 'filter' | 'order' | 'create' | 'update', Audience>> {
  const { visible, list, write: { writable } } = resource
  const { read, list: listing, create, update } = audiencesOf(resource)
  const only = (isTrue: boolean, audience: Audience): Audience => isTrue ? audience : 'nobody'
  const isOpen = list.access.own.has(column)
  return {
    read: only(visible.includes(column), wider(read, listing)),
    filter: only(isOpen && valueKindOf(column).operators.length > 0, listing),
    order: only(isOpen && isOrderable(column), listing),
    create: only(writable.has(column), create),
    update: only(writable.has(column), update)
  }
}
