/**
 * Tags of records, by the objects that the client returned. They are no part of a record, so that it can be sent back
 * as it was read.
 */
const etags = new WeakMap<object, string>()

/**
 * Keeps the tag of a record, if its answer has one. A proxy that compresses answers makes tags weak, which no
 * `If-Match` matches. The tags of the API stand for the record and not for its bytes, so they stay strong.
 */
export function keepEtag (record: unknown, header: string | null): void {
  if (typeof record === 'object' && record !== null && header !== null) etags.set(record, toStrong(header))
}

function toStrong (tag: string): string {
  return tag.replace(/^W\//, '')
}

/**
 * Returns the `ETag` of a record as the client's `read`, `create` or `update` returned it. Undefined for any other
 * object, such as a copy or a record of a list, and if the resource has no option `etag`.
 */
export function etagOf (record: object): string | undefined {
  return etags.get(record)
}

/**
 * Returns the header for the option `ifMatch` of a call.
 *
 * @throws TypeError if the option is a record without a tag, or a text that is none
 */
export function ifMatchHeader (ifMatch: object | string | undefined): { readonly 'if-match'?: string } {
  if (ifMatch === undefined) return {}
  const tag = typeof ifMatch === 'object' && ifMatch !== null ? etagOf(ifMatch) : ifMatch
  if (typeof tag !== 'string') {
    throw new TypeError("'ifMatch' has no ETag: give a record as read, create or update returned it, not a copy or " +
      "one of a list; the resource needs the option 'etag'")
  }
  const strong = toStrong(tag)
  if (!/^(?:\*|"[!\x23-\x7e\x80-\xff]*")$/.test(strong)) throw new TypeError("'ifMatch' must be a record, an ETag or *")
  return { 'if-match': strong }
}
