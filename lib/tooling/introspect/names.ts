import { isOperator } from '../../fields/operators.js'

/** Names that are given once each, whatever their case. */
export class Names {
  readonly #taken = new Set<string>()

  /** Takes a name, with a number behind it if it is taken. */
  take (wanted: string, also: (name: string) => readonly string[] = () => []): string {
    for (let number = 1; ; number++) {
      const name = number === 1 ? wanted : `${wanted.slice(0, maxLength - 3)}${number}`
      const all = [name, ...also(name)].map((text) => text.toLowerCase())
      if (all.some((text) => this.#taken.has(text))) continue
      for (const text of all) this.#taken.add(text)
      return name
    }
  }
}

/** The key of a foreign key has three characters more. */
const maxLength = 60

/** The name of a model for that of a table: `order_line` is `OrderLine`. Nothing is made singular: no rule is right for all names. */
export function modelName (table: string): string {
  const words = table.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const name = words.map((word) => word.charAt(0).toUpperCase() + (isShouted(table) ? word.slice(1).toLowerCase() : word.slice(1))).join('')
  return (/^[A-Za-z]/.test(name) ? name : `Table${name}`).slice(0, maxLength)
}

function isShouted (name: string): boolean {
  return name.length > 1 && name === name.toUpperCase()
}

/** The name of a field for that of a column, as near to it as the names of fields permit. */
export function fieldName (column: string): string {
  const name = column.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '')
  const begun = /^[A-Za-z]/.test(name) ? name : `column_${name}`.replace(/_$/, '')
  return isOperator(begun) || begun.toLowerCase() === 'id' ? `${begun}_value` : begun
}

/** The name of a foreign key for that of its column: `user_id`, `userId` and `UserID` are `user`. */
export function referenceName (column: string): string {
  const name = fieldName(column)
  const [, stem] = /^(.+?)(?:_id|_ID|(?<=[a-z0-9])I[dD])$/.exec(name) ?? []
  return fieldName(stem ?? name)
}
