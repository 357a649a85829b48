import type { Dialect } from '../engines/dialect.js'

/**
 * Matches what may come before the first word of a statement: white space, and the start of a comment that MariaDB
 * executes, such as `/*!50000`.
 */
const opening = /^\s*(?:\/\*M?!\d*\s*)?/
/**
 * Matches the first words of a statement that begins or ends a transaction. It does not match `rollback to` a
 * savepoint, nor statements such as `create table`: MariaDB commits before them, but other engines do not.
 */
const transactional =
  /^(?:begin|start|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i
/** Matches a statement of MariaDB that sets `autocommit`: switching it on again commits an open transaction. */
const automatic = /^set\b[^;]*\bautocommit\s*:?=/i
/** Matches a statement of MariaDB that executes or prepares a text which begins or ends a transaction. */
const prepared = /\b(?:execute\s+immediate|prepare\s+\S+\s+from)\s*['"]\s*(?:begin|start|commit|rollback)\b/i

/** Matches every text that the patterns above match, and few others, so that few texts need the longer search. */
const suspect = /begin|start|commit|end|abort|prepare|rollback/i

/** True if one of the statements in a text begins or ends a transaction. PostgreSQL takes several in one text. */
export function controlsTransaction (text: string, { quoted }: Pick<Dialect, 'quoted'>): boolean {
  if (!suspect.test(text)) return false
  return prepared.test(text) || text.replace(quoted, ' ').split(';')
    .map((statement) => statement.replace(opening, ''))
    .some((statement) => transactional.test(statement) || automatic.test(statement))
}
