import type { RawBuilder } from 'kysely'
import type { TakenIndexName, PartitionRow, UnalterableRow } from '../engines/catalog.js'
import type { Handle } from '../database/engine.js'
import type { Dialect } from '../engines/dialect.js'
import { storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { nameField } from './compare-tables.js'
import { namesOf, type TableChange } from './existing-parts.js'
import type { DatabaseTables } from './read-tables.js'
import { typeOf, uniqueNameOf } from './table.js'

/**
 * Facts about existing tables for {@link tableObstacles}. `named` has the names that no new index can have.
 * `partitions` has the columns by which tables are partitioned. `unalterable` has the tables to which some kinds of
 * columns cannot be added.
 */
export interface TableFacts {
  readonly tables: DatabaseTables
  readonly dialect: Dialect
  readonly named: readonly TakenIndexName[]
  readonly partitions: readonly PartitionRow[]
  readonly unalterable: readonly UnalterableRow[]
}

/** Reads the facts for {@link tableObstacles}. */
export async function readTableFacts (
  { db, dialect }: Pick<Handle, 'db' | 'dialect'>, tables: DatabaseTables
): Promise<TableFacts> {
  const { indexNames, partitionColumns, unalterable } = dialect.catalog
  const rowsOf = async <R>(query?: RawBuilder<R>): Promise<readonly R[]> => (await query?.execute(db))?.rows ?? []
  return {
    tables,
    dialect,
    named: await rowsOf(indexNames),
    partitions: await rowsOf(partitionColumns),
    unalterable: await rowsOf(unalterable)
  }
}

/**
 * Returns why parts of a change cannot be added to an existing table, whatever its rows, as sentences with the
 * remedies. Reasons: the table cannot have such a column, or one of this name; its partitions rule out such a unique
 * index; or another index has the name already. Returns none if everything can be added.
 */
export function tableObstacles (change: TableChange, facts: TableFacts): readonly string[] {
  return [alterObstacles, columnNameObstacles, partitionObstacles, nameObstacles].flatMap((find) => find(change, facts))
}

function alterObstacles ({ model, columns, unique }: TableChange, facts: TableFacts): readonly string[] {
  const { tables, dialect } = facts
  const row = facts.unalterable.find((found) => tables.isSameTable(found, model))
  if (row === undefined || columns.length + unique.length === 0) return []
  if (row.types === null) {
    return [`model '${model.name}' needs more columns or unique indexes, but table '${model.table}' ${row.why}`]
  }
  const types = row.types.split(' ')
  const isRefused = (column: Column): boolean => !types.includes(typeOf(column, model, dialect))
  return columns.filter(isRefused).map((column) => {
    const fitting = types.find((type) => storageOf(column, dialect).holds(type))
    return `${nameField(model, column)} would be of the type ${typeOf(column, model, dialect)}, but table ` +
      `'${model.table}' ${row.why}: add it as ${fitting} by a statement of your own`
  })
}

function columnNameObstacles ({ model, columns }: TableChange, { dialect }: TableFacts): readonly string[] {
  const { schema: { onlyCreatedNames = [] }, foldName } = dialect
  return columns.filter(({ name }) => onlyCreatedNames.includes(foldName(name))).map((column) =>
    `${nameField(model, column)} needs column '${column.name}', a name that SQLite adds to no existing table: ` +
    "name another with 'column'")
}

function partitionObstacles ({ model, unique }: TableChange, facts: TableFacts): readonly string[] {
  const { tables, dialect: { foldName } } = facts
  const parts = facts.partitions.filter((row) => tables.isSameTable(row, model))
  const lacks = (group: readonly Column[]): boolean =>
    parts.some(({ column }) => !namesOf(group).some((name) => foldName(name) === foldName(column)))
  return unique.filter(lacks).map((group) => {
    const fields = group.map(({ field }) => `'${field}'`).join(' and ')
    return `model '${model.name}' has unique ${fields}, but table '${model.table}' is partitioned by ` +
      `${parts.map(({ column }) => column).join(', ')}, which must be among them: ` +
      "add the fields to 'unique', or do not declare it unique"
  })
}

function nameObstacles ({ model, unique, indexes }: TableChange, facts: TableFacts): readonly string[] {
  const uniqueNames = unique.map((group) => uniqueNameOf(model.table, namesOf(group)))
  const names = [...uniqueNames, ...indexes.map(({ name }) => name)]
  return names.filter((name) => isTaken(name, model, facts)).map((name) =>
    `model '${model.name}' needs index '${name}' of table '${model.table}', but another one has this name: rename or ` +
    'drop that one by a statement of your own')
}

function isTaken (name: string, model: Model, { tables, dialect: { foldName }, named }: TableFacts): boolean {
  return named.some((row) => foldName(row.name) === foldName(name) &&
    (row.table === null || tables.isSameTable({ table: row.table }, model)))
}
