import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** More parameters are not prepared: they are an `in` list of 100 values, filled up to 128, and what else a list has. */
const maxParameters = 140
/** Longer texts are not prepared: a server takes several hundred KiB for each. In characters. */
const maxText = 16_384
/** Characters of the texts that are remembered as asked for. */
const maxRemembered = 2 ** 20

/**
 * Names for prepared statements: the same text has the same name on every connection, and no other text has it, in any process:
 * a pooler may hand the connections of one to another. A text gets its name when it is asked for again, because clients choose
 * the shapes of lists, and most of what they make up is never asked for again.
 */
export class StatementNames {
  readonly #names = new LRUCache<string, string>({ max: 2000, maxSize: maxRemembered, sizeCalculation: (_name, text) => text.length })

  /** Undefined for what is not worth preparing: a text that is new, heavy, or without parameters. */
  nameOf (text: string, values: readonly unknown[]): string | undefined {
    if (values.length === 0 || values.length > maxParameters || text.length > maxText) return undefined
    const known = this.#names.get(text)
    if (known === undefined) this.#names.set(text, '')
    if (known !== '') return known
    const name = `rest_models_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`
    this.#names.set(text, name)
    return name
  }
}
