import type { Resource } from '../../resource/resource.js'
import { audiencesOf } from './permissions.js'

/** A text field that a list shows, and whose length its model does not limit. */
export interface Unbounded {
  readonly resource: string
  readonly field: string
}

/**
 * Returns the text fields that lists of a resource show, and that only the default maximum of 65,536 characters limits.
 * Returns none if nobody may list the resource.
 */
export function unboundedOf (resource: Resource): readonly Unbounded[] {
  const { visible, name } = resource
  if (audiencesOf(resource).list === 'nobody') return []
  return visible
    .filter(({ kind, options: { maxLength, unique, format, enum: choices } }) =>
      kind === 'text' && maxLength === undefined && unique !== true && format === undefined && choices === undefined)
    .map(({ field }) => ({ resource: name, field }))
}
