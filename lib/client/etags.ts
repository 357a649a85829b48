/**
 * ETags of records, by the objects that the client returned. The ETag is no property of the record, so that a record
 * can be sent back as it was read.
 */
const etags = new WeakMap<object, string>()

/**
 * Keeps the ETag of a record, if the answer has one, without the prefix `W/`. A proxy that compresses answers adds this
 * prefix, and `If-Match` matches no ETag that has it. The ETags of the API stand for the record and not for the bytes
 * of the answer, so the prefix can be removed.
 */
export function keepEtag (record: unknown, header: string | null): void {
  if (typeof record === 'object' && record !== null && header !== null) etags.set(record, toStrong(header))
}

function toStrong (tag: string): string {
  return tag.replace(/^W\//, '')
}

/**
 * Returns the `ETag` of a record that the client's `read`, `create` or `update` returned. Returns undefined if the
 * answer had none, because the resource lacks the option `etag`. Also returns undefined for a record that was read with
 * `include`, and for any other object, such as a copy or a record of a list.
 */
export function etagOf (record: object): string | undefined {
  return etags.get(record)
}

/**
 * Returns the header for the option `ifMatch` of a call; no header if the option is undefined. A weak ETag loses its
 * prefix `W/`, as in {@link keepEtag}.
 *
 * @throws TypeError if the option is a record without an ETag, or a text that is neither an ETag nor `*`
 */
export function ifMatchHeader (ifMatch: object | string | undefined): { readonly 'if-match'?: string } {
  if (ifMatch === undefined) return {}
  const tag = typeof ifMatch === 'object' && ifMatch !== null ? etagOf(ifMatch) : ifMatch
  if (typeof tag !== 'string') {
    throw new TypeError("'ifMatch' has no ETag: give a record as read, create or update returned it, not a copy, " +
      "one of a list or one with 'include'; the resource needs the option 'etag'")
  }
  const strong = toStrong(tag)
  if (!/^(?:\*|"[!\x23-\x7e\x80-\xff]*")$/.test(strong)) throw new TypeError("'ifMatch' must be a record, an ETag or *")
  return { 'if-match': strong }
}
