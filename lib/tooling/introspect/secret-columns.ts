import { readHandle, type AnyKysely } from '../../database/engine.js'
import { isYes, type Catalog, type ColumnRow, type KeyRow, type ReferenceRow } from '../../engines/catalog.js'
import { describedAs, readType } from '../../engines/described-types.js'
import type { StorageName } from '../../engines/storage.js'
import { isSecretColumn } from '../../model/secret-names.js'

/**
 * Two columns that hold the same values: if `from` is secret, `to` is secret too. Both are written as `table.column`,
 * in the form that {@link Fold} gives.
 */
interface Spread {
  readonly from: string
  readonly to: string
}

/**
 * Function that returns a name in the form for comparisons. Two names of tables, or two of columns as `table.column`,
 * mean the same thing for the engine if their forms are equal.
 */
type Fold = (name: string) => string

/**
 * Returns the secret columns of a database, as `table.column`. A column is secret if its name looks secret, by itself
 * or because of its table, except a boolean, a date or a date with time. A column is also secret if a foreign key
 * makes it hold the same values as a secret column: if it refers to that column, or if that column refers to it. A
 * primary key does not become secret by the latter, because links show it. Foreign keys may have several columns.
 *
 * @param shown  columns that are not secret, whatever their names and foreign keys, as `table.column`
 */
export async function secretColumns (handle: AnyKysely, shown: readonly string[]): Promise<ReadonlySet<string>> {
  const { db, dialect: { catalog, foldName } } = readHandle(handle)
  const { rows } = await catalog.columns.execute(db)
  const { rows: keys } = await catalog.keys.execute(db)
  const { rows: references } = await catalog.references.execute(db)
  const names = new Map<string, string[]>()
  const namesIn = (table: string): readonly string[] => names.get(table) ?? []
  for (const { table, name } of rows) names.set(table, [...namesIn(table), name])
  const columns = rows.map((row) => {
    const { table, name } = row
    const own = { name: table, columns: namesIn(table) }
    return { name: `${table}.${name}`, looksSecret: isSecretColumn(name, kindOf(row, catalog), own) }
  })
  const open = new Set(shown.map(foldName))
  const named = columns.filter(({ looksSecret }) => looksSecret).map(({ name }) => foldName(name))
  const spreads = spreadsOf(references, keys.filter((key) => isYes(key.primary)), foldName)
  const secrets = withSpread(named.filter((name) => !open.has(name)), spreads.filter(({ to }) => !open.has(to)))
  return new Set(columns.map(({ name }) => name).filter((name) => secrets.has(foldName(name))))
}

/** Characters of a UUID as a text. */
const uuidLength = 36

/**
 * Returns the kind of a column's values, as its type declares them: a text with the length of a UUID counts as a UUID.
 * Undefined if no field can hold values of the type.
 */
function kindOf (column: ColumnRow, catalog: Catalog): StorageName | undefined {
  const { kind, options } = describedAs(catalog, column) ?? {}
  const isUuid = kind === 'text' && (readType(column.type, '').name === 'uuid' || options?.maxLength === uuidLength)
  return isUuid ? 'uuid' : kind
}

/**
 * Returns how secrets spread along foreign keys: from the target to the column that refers to it, and from that column
 * to the target if the target is no primary key.
 */
function spreadsOf (references: readonly ReferenceRow[], primary: readonly KeyRow[], fold: Fold): readonly Spread[] {
  const keyNames = new Set(primary.map(({ table, column }) => fold(`${table}.${column}`)))
  const keysOf = (table: string): readonly string[] =>
    primary.filter((key) => fold(key.table) === fold(table)).map(({ column }) => String(column))
  return references.flatMap(({ table, column, target, targetColumn }) => {
    const referring = fold(`${table}.${column}`)
    // A foreign key that names no target column refers to the primary key: each of its columns counts as a target.
    const targets = targetColumn === null ? keysOf(target) : [targetColumn]
    return targets.map((name) => fold(`${target}.${name}`)).flatMap((referred) => [
      { from: referred, to: referring },
      ...keyNames.has(referred) ? [] : [{ from: referring, to: referred }]
    ])
  })
}

/** Returns the given secret columns, and all columns that are secret because of them. */
function withSpread (given: readonly string[], spreads: readonly Spread[]): ReadonlySet<string> {
  const secrets = new Set(given)
  // A set is iterated in the order of insertion, so this also visits the names that it adds.
  for (const secret of secrets) {
    for (const { from, to } of spreads) if (from === secret) secrets.add(to)
  }
  return secrets
}
