import type { FieldKind } from '../../fields/field-kinds.js'
import { operatorByName } from '../../fields/operators.js'
import type { FieldPlan } from './model-plan.js'

/** A set of names in use. Two names that differ only in upper and lower case count as the same. */
export class Names {
  readonly #taken = new Set<string>()

  isFree (name: string): boolean {
    return !this.#taken.has(name.toLowerCase())
  }

  /**
   * Reserves a name and returns it. If the name is taken, cuts it to 57 characters, which leaves room for three digits,
   * and appends the first number from 2 on that makes it free.
   *
   * @param also  returns the names to reserve together with a name, all of which must be free, too; or undefined if the
   *   name must not be used
   */
  take (wanted: string, also: (name: string) => readonly string[] | undefined = () => []): string {
    for (let number = 1; ; number++) {
      const name = number === 1 ? wanted : `${wanted.slice(0, maxNameLength - 3)}${number}`
      const more = also(name)
      const all = [name, ...more ?? []].map((text) => text.toLowerCase())
      if (more === undefined || all.some((text) => this.#taken.has(text))) continue
      for (const text of all) this.#taken.add(text)
      return name
    }
  }
}

/**
 * Maximum number of characters that defineModel() permits in the name of a model or a field. The key of a foreign key
 * may have three more: `_id`.
 */
const maxNameLength = 60

/**
 * Returns the model's name for the name of a table. In lower case the two are equal, as far as names of models permit,
 * because paths contain the model's name in lower case: `user` becomes `User`, and `order_line` stays.
 */
export function modelName (table: string): string {
  const words = pascal(table)
  if (words.toLowerCase() === table.toLowerCase()) return words
  const name = joined(table)
  return (/^[A-Za-z]/.test(name) ? name : `table_${name}`).slice(0, maxNameLength).replace(/_$/, '')
}

/**
 * Returns a name in which a single underscore stands for each run of characters that are no letters or digits. Such a
 * run at the start or the end is dropped.
 */
function joined (name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '')
}

/** Names of types that a written file may import. */
export const importedTypes: readonly string[] = ['Field', 'Model']

/**
 * Returns the name of the constant for a model of a table: `order_line` becomes `OrderLine`. It keeps plurals, because
 * no rule makes the right singular of all names. `Field` and `Model` get a `_` at their end, because the file may
 * import types of these names.
 */
export function constantName (table: string): string {
  const name = pascal(table)
  return importedTypes.includes(name) ? `${name}_` : name
}

function pascal (table: string): string {
  const words = table.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const isUpperCase = isShouted(table)
  const name = words
    .map((word) => word.charAt(0).toUpperCase() + (isUpperCase ? word.slice(1).toLowerCase() : word.slice(1)))
    .join('')
  return (/^[A-Za-z]/.test(name) ? name : `Table${name}`).slice(0, maxNameLength)
}

function isShouted (name: string): boolean {
  return name.length > 1 && name === name.toUpperCase()
}

/**
 * Returns the field's name for the name of a column. Changes only the parts that the rules for names of fields do not
 * permit. `id` and the names of operators are reserved, so `_value` is added at their end.
 */
export function fieldName (column: string): string {
  const name = joined(column)
  const begun = (/^[A-Za-z]/.test(name) ? name : `column_${name}`).slice(0, maxNameLength).replace(/_$/, '')
  return operatorByName.has(begun) || begun.toLowerCase() === 'id' ? `${begun}_value` : begun
}

/**
 * Returns the name of the field for a foreign key's column, without a final id: `user_id` and `userId` become `user`.
 */
export function referenceName (column: string): string {
  const name = fieldName(column)
  const [, stem] = /^(.+?)(?:_id|_ID|(?<=[a-z0-9])I[dD])$/.exec(name) ?? []
  return fieldName(stem ?? name)
}

/** The context for naming the fields of a table. */
export interface NameSetting {
  readonly names: Names
  /** Columns of the foreign keys. */
  readonly references: readonly string[]
}

/**
 * Reserves a name for a column's field, and returns it with the option that states the name of the column: `column` or
 * `key`. The options are empty only if the name of the column follows from the name of the field.
 */
export function nameFor (column: string, kind: FieldKind, setting: NameSetting): Pick<FieldPlan, 'name' | 'options'> {
  const { names, references } = setting
  if (kind !== 'foreignKey') {
    const name = names.take(fieldName(column))
    return { name, options: column === name ? {} : { column } }
  }
  const own = keyFor(column, setting)
  if (own !== undefined) {
    names.take(own)
    // Another foreign key needs the name of its column as its own key.
    const isKept = (name: string): boolean => references.some((other) => other.toLowerCase() === name.toLowerCase())
    return { name: names.take(referenceName(column), (name) => isKept(name) ? undefined : []), options: { key: own } }
  }
  const name = names.take(referenceName(column), (name) => [`${name}_id`])
  return { name, options: column === `${name}_id` ? {} : { column } }
}

/**
 * Returns the option `key` of a foreign key: the name of its column, such as `authorId`. Returns undefined if the
 * option is not needed: the column has the name of the field, with or without `_id`, and no other field or foreign key
 * takes these names. Also returns undefined if no key can have the name of the column.
 */
function keyFor (column: string, { names, references }: NameSetting): string | undefined {
  const name = referenceName(column)
  const isAlone = references.filter((other) => referenceName(other).toLowerCase() === name.toLowerCase()).length === 1
  const isImplied = isAlone && [name, `${name}_id`].includes(column) && names.isFree(name) && names.isFree(`${name}_id`)
  return !isImplied && fieldName(column) === column && names.isFree(column) ? column : undefined
}
