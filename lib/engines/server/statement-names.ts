import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/**
 * Maximum number of parameters of a statement that is prepared. It leaves room for an `in` list of 100 values, which is
 * filled up to 128, and the other parameters of a list.
 */
const maxParameters = 140
/**
 * Maximum number of characters of a statement that is prepared. PostgreSQL takes about 800 KiB for one of that length.
 */
const maxTextLength = 16_384
/** Maximum number of characters of all remembered texts together. Those not used for the longest time are forgotten. */
const maxRememberedLength = 2 ** 20

/** A statement that is worth preparing. As long as its text is remembered, this object is the same for each use. */
export interface NamedStatement {
  readonly text: string
  readonly name: string
}

/** Stands for a text that was asked for once. */
const once = 'once'

/**
 * Names for prepared statements. The same text has the same name on every connection in every process, and no other
 * text has that name, because a pooler may hand the connection of one process to another. A text gets its name only
 * when it is asked for a second time: clients choose filters and orderings, so most texts never come again.
 */
export class StatementNames {
  readonly #statements = new LRUCache<string, NamedStatement | typeof once>({
    max: 2000,
    maxSize: maxRememberedLength,
    sizeCalculation: (_statement, text) => text.length
  })

  /**
   * Returns a text with its name. Returns undefined if the text is not worth preparing: it is new, too long, or has no
   * parameters or too many.
   */
  statementOf (text: string, values: readonly unknown[]): NamedStatement | undefined {
    if (values.length === 0 || values.length > maxParameters || text.length > maxTextLength) return undefined
    const known = this.#statements.get(text)
    if (known === undefined) this.#statements.set(text, once)
    if (known !== once) return known
    const statement = { text, name: `rest_models_${createHash('sha256').update(text).digest('hex').slice(0, 40)}` }
    this.#statements.set(text, statement)
    return statement
  }
}
