import type { Engine } from '../database/engine.js'
import { isYes, type KeyRow } from '../engines/catalog.js'
import type { Dialect } from '../engines/dialect.js'
import { storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { DatabaseTables } from './read-tables.js'
import { indexesOf, type TableIndex } from './table.js'
import { setOf, uniqueSets } from './unique-indexes.js'

/** Parts of a model that its table lacks. A migration adds them. */
export interface MissingParts {
  readonly columns: readonly Column[]
  /** Lists of columns that are to be unique together; a list of one for a unique field. */
  readonly unique: ReadonlyArray<readonly Column[]>
  readonly indexes: readonly TableIndex[]
  /** Indexes that the engine may drop by itself, because a new unique index serves their foreign keys, too. */
  readonly replaced?: readonly NamedIndex[]
}

type IndexRow = Pick<KeyRow, 'key' | 'column'>

/** An index of a database, with the names of its columns. */
export interface NamedIndex {
  readonly name: string
  readonly columns: readonly string[]
}

/** A model, and the parts of it that its table lacks. */
export interface TableChange extends MissingParts {
  readonly model: Model
}

/** The parts of one table: those that it has, and those that a migration is about to add. */
export class ExistingParts {
  readonly #dialect: Dialect
  /** Types of the columns by their names; null for a column that is added. */
  readonly #columns: Map<string, string | null>
  /** Sets of columns that are unique together, as {@link setOf} writes them. */
  readonly #unique: Set<string>
  /** Names of the columns that are the first of an index. A foreign key among them needs no index of its own. */
  readonly #indexed: Set<string>
  /** Names of the columns that have the partial index which their storage needs. */
  readonly #stored: Set<string>
  readonly #replaceable: readonly NamedIndex[]

  constructor (
    dialect: Dialect,
    { columns, unique, indexed, stored }: Readonly<Record<'unique' | 'indexed' | 'stored', Set<string>>> &
      { readonly columns: Map<string, string | null> },
    replaceable: readonly IndexRow[]
  ) {
    this.#dialect = dialect
    this.#replaceable = namedIndexes(replaceable)
    this.#columns = columns
    this.#unique = unique
    this.#indexed = indexed
    this.#stored = stored
  }

  /**
   * Records the columns and indexes of a model as parts of the table, and returns those that were missing. Leaves out
   * indexes of a column that is missing and not in `addable`, and of a column that has not the type of its field: some
   * types can have no index, such as `json` of PostgreSQL. Another migration adds them after the difference is gone.
   */
  add (model: Model, addable: readonly Column[]): MissingParts {
    const { columns, primaryKey, uniqueTogether } = model
    const added = addable.filter((column) => !this.#columns.has(this.#fold(column)))
    for (const column of added) this.#columns.set(this.#fold(column), null)
    const single = columns.filter(({ options }) => options.unique === true).map((column) => [column])
    const key = primaryKey.parts === undefined ? [] : [primaryKey.parts]
    const unique = [...single, ...key, ...uniqueTogether]
      .filter((group) => group.every((column) => this.#canIndex(column)))
      .filter((group) => adds(this.#unique, setOf(namesOf(group), this.#dialect)))
    for (const [first] of unique) if (first !== undefined) this.#indexed.add(this.#fold(first))
    const indexes = indexesOf(model, this.#dialect).filter(({ column }) => this.#canIndex(column))
      .filter(({ column, where }) => adds(where === undefined ? this.#indexed : this.#stored, this.#fold(column)))
    const replaced = this.#replaceable.filter((index) => unique.some((group) => this.#serves(group, index)))
    return { columns: added, unique, indexes, replaced }
  }

  /** True if a column is added, or if the table has it with the type of its field. */
  #canIndex (column: Column): boolean {
    const type = this.#columns.get(this.#fold(column))
    return type === null || (type !== undefined && storageOf(column, this.#dialect).holds(type))
  }

  /** True if a unique index of columns begins with the columns of another index, so that it can replace that index. */
  #serves (group: readonly Column[], { columns }: NamedIndex): boolean {
    const { foldName } = this.#dialect
    const names = namesOf(group).map(foldName)
    return columns.every((name, index) => foldName(name) === names[index])
  }

  #fold ({ name }: Column): string {
    return this.#dialect.foldName(name)
  }
}

/** Returns the names that columns have in the database, in the same order. */
export function namesOf (columns: readonly Column[]): readonly string[] {
  return columns.map(({ name }) => name)
}

/** Adds an item to a set. Returns true if the set did not have the item before. */
function adds (set: Set<string>, item: string): boolean {
  return set.size < set.add(item).size
}

/** Returns the indexes of one table from the rows of their columns. */
function namedIndexes (rows: readonly IndexRow[]): readonly NamedIndex[] {
  return [...new Set(rows.map(({ key }) => key))].map((name) =>
    ({ name, columns: rows.filter(({ key }) => key === name).map(({ column }) => String(column)) }))
}

/** Reads the keys and indexes of a database. Returns a function that gives the parts of a model's table. */
export async function readParts (
  { db, dialect, dialect: { catalog, foldName } }: Engine, tables: DatabaseTables
): Promise<(model: Model) => ExistingParts> {
  const { rows: keys } = await catalog.keys.execute(db)
  const { rows: indexed } = await catalog.indexed.execute(db)
  const { rows: replaceable } = await catalog.replaceable?.execute(db) ?? { rows: [] }
  return (model) => {
    const isOwn = (row: { readonly table: string }): boolean => tables.isSameTable(row, model)
    const columns = [...tables.columnsOf(model)]
    return new ExistingParts(dialect, {
      columns: new Map(columns.map(([name, { type }]) => [name, type])),
      unique: uniqueSets(keys.filter(isOwn), dialect),
      indexed: new Set(indexed.filter(isOwn).map(({ column }) => foldName(column ?? ''))),
      stored: new Set(columns.filter(([, column]) => isYes(column.indexed)).map(([name]) => name))
    }, replaceable.filter(isOwn))
  }
}
