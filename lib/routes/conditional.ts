import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LockedRecord } from '../database/locked-record.js'
import type { Row } from '../engines/executor.js'
import { errors } from '../errors.js'
import { maxTagsLength, opaquePart, parseEntityTags, type EntityTags } from '../request/entity-tags.js'
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
  return header !== undefined && isAmong(parseEntityTags(header), tag)
}

/** True if `tags` are `*`, or have `tag`, strong or weak. False if they are undefined: the header is malformed. */
function isAmong (tags: EntityTags | undefined, tag: string): boolean {
  return tags === '*' || tags?.some((one) => opaquePart(one) === tag) === true
}

/**
 * Checks the headers `If-Match` and `If-None-Match` of a write against a record. A weak tag matches no record in
 * `If-Match`, but matches in `If-None-Match`.
 *
 * @param stored  the row of the record, as it was read before the handler
 * @returns a function to call with the row of the locked record: it throws 412 if the tag differs from that of
 *   `stored`; undefined if the request accepts any state of the record
 * @throws REST_MODELS_PRECONDITION_FAILED (412) if `If-Match` does not list the tag of `stored`, or if `If-None-Match`
 *   lists it or is `*`; REST_MODELS_INVALID_PRECONDITION (400) if one of the headers is malformed, or if the resource
 *   has no tags, so that nobody relies on a protection that is not there
 */
export function requireMatch (
  { headers }: FastifyRequest, { tagOf, toWritten }: Pick<Resource, 'tagOf' | 'toWritten'>, stored: Row
): LockedRecord['requireUnchanged'] {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (match === undefined && noneMatch === undefined) return undefined
  if (tagOf === undefined) {
    const name = match === undefined ? 'If-None-Match' : 'If-Match'
    throw new errors.InvalidPrecondition(`'${name}' is not supported by this resource`)
  }
  const expected = match === undefined ? '*' : requireTags('If-Match', match)
  const refused = noneMatch === undefined ? [] : requireTags('If-None-Match', noneMatch)
  if (expected === '*' && noneMatch === undefined) return undefined
  const tag = tagOf(toWritten(stored))
  const isExpected = expected === '*' || expected.includes(tag)
  if (!isExpected || isAmong(refused, tag)) throw new errors.PreconditionFailed()
  return (row) => {
    if (tagOf(toWritten(row)) !== tag) throw new errors.PreconditionFailed()
  }
}

function requireTags (name: string, header: string): EntityTags {
  const tags = parseEntityTags(header)
  if (tags !== undefined) return tags
  throw new errors.InvalidPrecondition(
    `'${name}' must be * or a list of entity tags such as "xyz", of at most ${maxTagsLength} characters`)
}
