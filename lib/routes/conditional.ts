import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LockedRecord } from '../database/locked-record.js'
import type { Row } from '../engines/executor.js'
import { errors } from '../errors.js'
import { maxTagsLength, opaquePart, parseEntityTags } from '../request/entity-tags.js'
import type { Resource } from '../resource/resource.js'
import type { TagOf } from '../response/entity-tag.js'
import type { ModelRecord } from '../response/record.js'

/** Adds the `ETag` of a record to its answer. Returns the record. */
export function tagged (reply: FastifyReply, tagOf: TagOf, record: ModelRecord): ModelRecord {
  reply.header('etag', tagOf(record))
  return record
}

/**
 * Adds the `ETag` of a record to the answer of a read, and sets the status 304 if the header `If-None-Match` has the
 * same tag, or `*`. The tag in the header may be weak. A malformed header is ignored, so the answer has the record.
 *
 * @returns the record, as the body of the answer; undefined for a 304, except to a HEAD request: there Fastify computes
 *   the length of the body from the record, but sends no body
 */
export function answerRead (
  request: FastifyRequest, reply: FastifyReply, tagOf: TagOf, record: ModelRecord
): ModelRecord | undefined {
  const tag = tagOf(record)
  reply.header('etag', tag)
  if (!isUnmodified(request.headers['if-none-match'], tag)) return record
  reply.code(304)
  // For an answer without a body, Fastify's route for HEAD would send a length of 0, which is not the length of the
  // record.
  return request.method === 'HEAD' ? record : undefined
}

function isUnmodified (header: string | undefined, tag: string): boolean {
  const tags = header === undefined ? undefined : parseEntityTags(header)
  return tags === '*' || tags?.some((one) => opaquePart(one) === tag) === true
}

/**
 * Checks the header `If-Match` of a write against a record. A weak tag matches no record. The header `If-None-Match` is
 * ignored (decision D-278).
 *
 * @param stored  the row of the record as it was read before the handler
 * @returns a function that throws 412 if the record, once it is locked, has another tag than here; undefined if the
 *   request accepts any state of the record
 * @throws REST_MODELS_PRECONDITION_FAILED (412) if `If-Match` does not list the tag of `stored`;
 *   REST_MODELS_INVALID_PRECONDITION (400) if the header is malformed, or if the resource has no tags, so that nobody
 *   relies on a protection that is not there
 */
export function requireMatch (
  { headers }: FastifyRequest, { tagOf, toWritten }: Pick<Resource, 'tagOf' | 'toWritten'>, stored: Row
): LockedRecord['requireUnchanged'] {
  const { 'if-match': header } = headers
  if (header === undefined) return undefined
  if (tagOf === undefined) throw new errors.InvalidPrecondition('is not supported by this resource')
  const tags = parseEntityTags(header)
  if (tags === undefined) {
    throw new errors.InvalidPrecondition(
      `must be * or a list of entity tags such as "xyz", of at most ${maxTagsLength} characters`)
  }
  if (tags === '*') return undefined
  const tag = tagOf(toWritten(stored))
  if (!tags.includes(tag)) throw new errors.PreconditionFailed()
  return (row) => {
    if (tagOf(toWritten(row)) !== tag) throw new errors.PreconditionFailed()
  }
}
