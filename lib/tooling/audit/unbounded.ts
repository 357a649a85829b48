import type { Resource } from '../../resource/resource.js'
import { audiencesOf } from './permissions.js'

/** A text that a list shows, and that its model does not bound. */
export interface Unbounded {
  readonly resource: string
  readonly field: string
}

/** The texts of a resource that lists show, and that nothing bounds but the default. */
export function unboundedOf (resource: Resource): readonly Unbounded[] {
  const { visible, registration: { name } } = resource
  if (audiencesOf(resource).list === 'nobody') return []
  return visible
    .filter(({ kind, options: { maxLength, unique, format, enum: choices } }) =>
      kind === 'text' && maxLength === undefined && unique !== true && format === undefined && choices === undefined)
    .map(({ field }) => ({ resource: name, field }))
}
