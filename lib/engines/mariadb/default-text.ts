import { sql } from 'kysely'

/**
 * Condition for a column `c` of type `float` whose default may have more digits than information_schema shows, which
 * rounds it to six.
 */
const isRounded = sql`c.column_type regexp '^float( |$)'
  and char_length(trim(both '0' from replace(regexp_replace(c.column_default, '^-|e.*$', ''), '.', ''))) >= 6`

/**
 * SQL for the default of the column `c`, as text. A remark in parentheses follows if the text may not be the true
 * default. This is so if it holds `?`, because information_schema also shows `?` for each character beyond U+FFFF, or
 * if {@link isRounded} is true.
 */
export const defaultText = sql`
  case when c.column_default like '%?%'
      then concat(c.column_default, ' (where ''?'' may stand for a character beyond U+FFFF)')
    when ${isRounded} then concat(c.column_default, ' (which MariaDB rounds to six digits)')
    else c.column_default end`
