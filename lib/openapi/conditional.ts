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

/** Request header `If-None-Match`, under its name. Its description covers all operations that take the header. */
const noneMatch = header('If-None-Match', 'Tags, or `*`: if one is current, a read is a 304, and a write is a 412')
const match = header('If-Match', 'Tags of the states that may be changed, or `*`: if none is current, it is a 412')

/**
 * Returns the headers that the option `etag` of a resource adds to the requests of an operation. Without the option,
 * and for a list or a create, there are none.
 */
export function parametersOf (
  { etag }: Pick<Resource, 'etag'>, operation: Operation
): { readonly headers?: JsonSchema } {
  if (etag && operation === 'read') return { headers: { type: 'object', properties: noneMatch } }
  if (etag && changesRecord(operation)) return { headers: { type: 'object', properties: { ...match, ...noneMatch } } }
  return {}
}

/** True if an operation writes to an existing record: an update or a delete. */
function changesRecord (operation: Operation): boolean {
  return rowOf(operation).path === 'record' && writes.includes(operation)
}

function header (name: string, description: string): Readonly<Record<string, JsonSchema>> {
  return { [name]: { type: 'string', description } }
}
