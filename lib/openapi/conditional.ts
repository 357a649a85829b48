import type { JsonSchema } from '../../schemas/documentation.js'
import { rowOf, writes, type Operation } from '../policy/operations.js'
import type { Resource } from '../resource/resource.js'
import type { Failure } from './failures.js'

/** Headers, answers and failures that the option `etag` adds to an operation. */
interface ConditionalAnswers {
  /** Headers of the answer on success. */
  readonly headers: Readonly<Record<string, JsonSchema>>
  /** Further answers that are no failures, by status. */
  readonly responses: Readonly<Record<string, JsonSchema>>
  readonly failures: readonly Failure[]
}

const tag = { ETag: { type: 'string', description: 'Tag of this state of the record; absent with `include`' } }

const unmodified = { description: 'The client knows the current state of the record', headers: tag, type: 'null' }

/** Returns what the option `etag` of a resource adds to the answers of an operation; nothing without the option. */
export function conditionalAnswers ({ etag }: Pick<Resource, 'etag'>, operation: Operation): ConditionalAnswers {
  const isTagged = etag && rowOf(operation).answers === 'record'
  return {
    headers: isTagged ? tag : {},
    responses: etag && operation === 'read' ? { 304: unmodified } : {},
    failures: etag && changesRecord(operation) ? ['PreconditionFailed'] : []
  }
}

/**
 * Returns the headers that the option `etag` of a resource adds to the requests of an operation. Without the option,
 * and for a list or a create, there are none.
 */
export function parametersOf (
  { etag }: Pick<Resource, 'etag'>, operation: Operation
): { readonly headers?: JsonSchema } {
  if (etag && operation === 'read') {
    return parameter('If-None-Match', 'Tags that the client has, or `*`: if one is current, the answer is 304')
  }
  if (etag && changesRecord(operation)) {
    return parameter('If-Match', 'Tags of the states that may be changed, or `*`: if none is current, it is a 412')
  }
  return {}
}

/** True if an operation writes to an existing record: an update or a delete. */
function changesRecord (operation: Operation): boolean {
  return rowOf(operation).path === 'record' && writes.includes(operation)
}

function parameter (name: string, description: string): { readonly headers: JsonSchema } {
  return { headers: { type: 'object', properties: { [name]: { type: 'string', description } } } }
}
