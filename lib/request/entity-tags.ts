/** Entity tags of a header in the order of the header, such as `"a"` or `W/"a"`; `*` stands for any tag. */
export type EntityTags = '*' | readonly string[]

/** Most characters of a header with entity tags; a longer one counts as malformed. More than 100 of our tags fit. */
export const maxTagsLength = 4096

/**
 * Matches one element of a list of entity tags, with the comma after it. Elements may be empty (RFC 9110, section
 * 5.6.1.2). Blanks can be matched in one way only, so the time is linear.
 */
const element = /[ \t]*(?:((?:W\/)?"[!\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/gy

/**
 * Parses a header `If-Match` or `If-None-Match` (RFC 9110, section 13.1).
 *
 * @returns undefined if the header is empty, malformed, or longer than {@link maxTagsLength}
 */
export function parseEntityTags (header: string): EntityTags | undefined {
  if (header === '*') return '*'
  if (header.length > maxTagsLength) return undefined
  const elements = [...header.matchAll(element)]
  if (elements.map(([text]) => text).join('') !== header) return undefined
  const tags = elements.flatMap(([, tag]) => tag ?? [])
  return tags.length === 0 ? undefined : tags
}

/** Returns an entity tag without the mark of a weak one, for a comparison in which weak tags match, too. */
export function opaquePart (tag: string): string {
  return tag.replace(/^W\//, '')
}
