import { isForeignKey, type Column, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Protections } from './protection.js'

/** The parts of a resource that decide which of its records others may refer to. */
interface Referred {
  readonly model: Model
  readonly protections: Protections
  readonly readOnly: ReadonlySet<Column>
  readonly owner: ForeignKeyColumn | undefined
  /** The rule that says which records of the resource a user may see; undefined if everybody may see every record. */
  readonly scopeRule: unknown
}

/**
 * Returns a later resource of the same model whose scope hides records from clients that may still set foreign keys to
 * these records. This happens because the first registered resource of a model decides which records foreign keys may
 * refer to. If it has no scope, they may refer to all records.
 *
 * @returns undefined if `first` has a scope or is not the first registered resource of its model; if no other resource
 *   of the model has a scope; if anybody may list `first`, so that nothing is hidden; or if clients can set no foreign
 *   key to the model
 */
export function hidingResource<Resource extends Referred> (
  first: Resource, all: readonly Resource[]
): Resource | undefined {
  const resources = all.filter(({ model }) => model === first.model)
  if (resources[0] !== first || first.scopeRule !== undefined || first.protections.list === 'open') return undefined
  const isReferredTo = all.some(({ model: { columns }, readOnly, owner }) => columns.some((column) =>
    isForeignKey(column) && column.target() === first.model && !readOnly.has(column) && column !== owner))
  return isReferredTo ? resources.find(({ scopeRule }) => scopeRule !== undefined) : undefined
}
