import { sql, type AliasedRawBuilder, type Expression } from 'kysely'
import type { Column } from '../model/column.js'
import type { DialectName } from '../vocabulary/dialects.js'
import { fieldKinds } from '../vocabulary/field-kinds.js'

/** A column in SQL: qualified by a table's alias in lists, bare in statements on one table. */
export function columnRef (column: Column, alias?: string): Expression<unknown> {
  return sql.ref(alias === undefined ? column.name : `${alias}.${column.name}`)
}

/** What to select so that a row has one exact value for each key. */
export function selection (columns: readonly Column[], dialect: DialectName, alias?: string): Array<AliasedRawBuilder<unknown, string>> {
  return columns.map((column) => {
    const ref = columnRef(column, alias)
    return sql`${fieldKinds[column.kind].storage[dialect].select?.(ref) ?? ref}`.as(column.key)
  })
}
