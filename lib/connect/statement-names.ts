import { createHash } from 'node:crypto'

/** Clients choose the shapes of lists, and each connection keeps what is prepared until it is closed. */
const maxNames = 500

/**
 * Names for prepared statements: the same text has the same name on every connection, and no other text has it, in any process:
 * a pooler may hand the connections of one to another.
 */
export class StatementNames {
  readonly #names = new Map<string, string>()

  /** Undefined for what is not worth preparing: a text without parameters, or one more than is kept. */
  nameOf (text: string, values: readonly unknown[]): string | undefined {
    if (values.length === 0) return undefined
    const known = this.#names.get(text)
    if (known !== undefined || this.#names.size >= maxNames) return known
    const name = `rest_models_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`
    this.#names.set(text, name)
    return name
  }
}
