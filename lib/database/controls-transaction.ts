import type { Dialect } from '../engines/dialect.js'

/**
 * Matches what may come before the first word of a statement: white space, and on MariaDB the start of a comment that
 * it executes, such as `/*!50000`, or settings for this statement alone.
 */
const opening = /^\s*(?:\/\*M?!\d*\s*)?(?:set\s+statement\b[^;]*?\bfor\s+)?/i
/**
 * Matches the first words of a statement that begins or ends a transaction. It does not match `rollback to` a
 * savepoint.
 */
const transactional =
  /^(?:begin|start|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i
/** Matches every text that the patterns above match, and few others, so that few texts need the longer search. */
const suspect = /begin|start|commit|end|abort|prepare|rollback/i

/**
 * True if one of the statements in a text begins or ends a transaction, or makes the engine do so. PostgreSQL takes
 * several statements in one text.
 */
export function controlsTransaction (
  text: string, { quoted, committing = [] }: Pick<Dialect, 'quoted' | 'committing'>
): boolean {
  if (committing.length === 0 && !suspect.test(text)) return false
  // The name of a setting may be quoted.
  const words = text.replace(quoted, (part) => part === '`autocommit`' ? part : ' ')
  return words.split(';')
    .map((statement) => statement.replace(opening, ''))
    .some((statement) => [transactional, ...committing].some((pattern) => pattern.test(statement)))
}
