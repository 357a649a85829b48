import { readHandle, type AnyKysely } from '../../database/engine.js'
import { isYes, readType, type WrittenType } from '../../engines/catalog.js'
import type { StorageName } from '../../engines/storage.js'
import { isSecretColumn } from '../../model/secret-names.js'

/** A foreign-key column and the column that it refers to. Both hold the same values. */
interface Link {
  readonly from: string
  readonly to: string
}

/**
 * Returns the secret columns of a database, as `table.column`. A column is secret if its name looks secret and it is
 * not a boolean, a date or a date with time. A column is also secret if a foreign key makes it hold the same values: if
 * it refers to a secret column, or if a secret column refers to it. The latter does not apply to primary keys, because
 * links show them. Foreign keys may have several columns.
 *
 * @param shown  columns that are not secret whatever their name, as `table.column`
 */
export async function secretColumns (handle: AnyKysely, shown: readonly string[]): Promise<ReadonlySet<string>> {
  const { db, dialect: { catalog, foldName } } = readHandle(handle)
  const { rows: columns } = await catalog.columns.execute(db)
  const { rows: keys } = await catalog.keys.execute(db)
  const { rows: references } = await catalog.references.execute(db)
  const kindOf = (type: WrittenType): StorageName | undefined => catalog.types[type.name]?.(type).kind
  const nameOf = (table: string, column: string): string => foldName(`${table}.${column}`)
  const primary = keys
    .filter((key) => isYes(key.primary))
    .map(({ table, column }) => ({ table: foldName(table), name: nameOf(table, String(column)) }))
  const primaryOf = (table: string): readonly string[] =>
    primary.filter((key) => key.table === foldName(table)).map(({ name }) => name)
  // A foreign key that names no target column refers to the primary key: each of its columns counts as a target.
  const links = references.flatMap(({ table, column, target, targetColumn }): Link[] =>
    (targetColumn === null ? primaryOf(target) : [nameOf(target, targetColumn)])
      .map((to) => ({ from: nameOf(table, column), to })))

  const open = new Set(shown.map((name) => foldName(name)))
  const keyNames = new Set(primary.map(({ name }) => name))
  const named = columns.filter(({ table, name, type, written }) =>
    isSecretColumn(name, kindOf(readType(type, written)), table))
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
