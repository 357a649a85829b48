import { readHandle, type AnyKysely } from '../../database/engine.js'
import { isYes, readType, type WrittenType } from '../../engines/catalog.js'
import type { StorageName } from '../../engines/storage.js'
import { isSecretColumn } from '../../model/secret-names.js'

/** A column of a foreign key and what it refers to, which hold the same values. */
interface Link {
  readonly from: string
  readonly to: string
}

/**
 * The columns of a database whose names are those of secrets, flags and moments apart, and those that hold the same values: they refer to secrets, in foreign
 * keys of several columns too, or secrets refer to them and they are no primary keys, which have to be shown.
 *
 * @param shown  columns that are none all the same, as `table.column`
 * @returns      as `table.column`
 */
export async function secretColumns (handle: AnyKysely, shown: readonly string[]): Promise<ReadonlySet<string>> {
  const { db, dialect: { catalog, foldName } } = readHandle(handle)
  const { rows: columns } = await catalog.columns.execute(db)
  const { rows: keys } = await catalog.keys.execute(db)
  const { rows: references } = await catalog.references.execute(db)
  const kindOf = (type: WrittenType): StorageName | undefined => catalog.types[type.name]?.(type).kind
  const nameOf = (table: string, column: string): string => foldName(`${table}.${column}`)
  const primary = keys.filter((key) => isYes(key.primary)).map(({ table, column }) => ({ table: foldName(table), name: nameOf(table, String(column)) }))
  const primaryOf = (table: string): readonly string[] => primary.filter((key) => key.table === foldName(table)).map(({ name }) => name)
  /** Of a primary key that is not named, any column. */
  const links = references.flatMap(({ table, column, target, targetColumn }): Link[] =>
    (targetColumn === null ? primaryOf(target) : [nameOf(target, targetColumn)]).map((to) => ({ from: nameOf(table, column), to })))

  const open = new Set(shown.map((name) => foldName(name)))
  const keyNames = new Set(primary.map(({ name }) => name))
  const named = columns.filter(({ table, name, type, written }) => isSecretColumn(name, kindOf(readType(type, written)), table))
  const secrets = new Set(named.map(({ table, name }) => nameOf(table, name)).filter((name) => !open.has(name)))
  for (let count = -1; count !== secrets.size;) {
    count = secrets.size
    for (const { from, to } of links) {
      if (secrets.has(to) && !open.has(from)) secrets.add(from)
      if (secrets.has(from) && !open.has(to) && !keyNames.has(to)) secrets.add(to)
    }
  }
  return new Set(columns.map(({ table, name }) => `${table}.${name}`).filter((name) => secrets.has(foldName(name))))
}
