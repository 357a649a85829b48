import { isForeignKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Protections } from './protection.js'

/** The parts of a resource that decide which of its records others may refer to. */
interface Referred {
  readonly model: Model
  readonly protections: Protections
  readonly readOnly: ReadonlySet<Column>
  readonly owner: Column | undefined
  /** The scope of the resource; undefined if it has none. */
  readonly scopeRule: unknown
}

/**
 * Returns a resource that hides records by its scope although clients may refer to them; undefined if there is none.
 * The first registered resource of a model decides which records foreign keys may refer to. If it has no scope, these
 * are all records, also those that the scope of a later resource hides. Also undefined if `first` is not the first one,
 * if anybody may list it, so that there is nothing to hide, or if clients can set no reference to the model.
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
