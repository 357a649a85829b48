import { sql } from 'kysely'
import type { Engine } from '../database/engine.js'
import type { Dialect } from '../engines/dialect.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { needsEmptyTable, needsValue } from './alter-table.js'
import { nameField } from './compare-tables.js'
import type { TableChange } from './existing-parts.js'
import type { DatabaseTables } from './read-tables.js'
import { defaultExpression } from './table.js'

/** Finds what cannot be added to tables because of their rows, and returns it as sentences with the remedies. */
export async function findObstacles (
  engine: Engine, tables: DatabaseTables, changes: readonly TableChange[]
): Promise<readonly string[]> {
  const obstacles: string[] = []
  for (const { model, columns, unique } of changes) {
    const refused = columns.filter((column) => needsEmptyTable(column, engine.dialect))
    if (refused.length > 0 && await hasRows(engine.db, model.table)) {
      obstacles.push(...refused.map((column) => whyNotAdded(model, column, engine.dialect)))
    }
    const ofTable = changes.filter((change) => tables.isSameTable(change.model, model))
    const added = ofTable.flatMap((change) => change.columns)
    for (const group of unique) {
      if (await clash(engine, model, { group, added })) obstacles.push(whyNotUnique(model, group))
    }
  }
  return obstacles
}

/** True if a table has at least one row. */
export async function hasRows (db: Engine['db'], table: string): Promise<boolean> {
  return await db.selectFrom(table).select(sql.lit(1).as('one')).limit(1).executeTakeFirst() !== undefined
}

/** Columns of which a migration makes a unique index. */
interface Group {
  /** The columns that are to be unique together. */
  readonly group: readonly Column[]
  /** All columns that the migration adds to the table, also for other models of it, not only those to be unique. */
  readonly added: readonly Column[]
}

/**
 * True if rows have the same values in columns that are to be unique. In an added column, all rows get the same
 * default. Without a default they get null, and nulls are never the same. The query reads the whole table.
 */
async function clash ({ db, dialect }: Engine, { table }: Model, { group, added }: Group): Promise<boolean> {
  const addedAs = ({ name }: Column): Column | undefined =>
    added.find((column) => dialect.foldName(column.name) === dialect.foldName(name))
  const defaults = group.flatMap((column) => addedAs(column) ?? []).map((column) => defaultExpression(column, dialect))
  if (defaults.includes(undefined)) return false
  const names = group.filter((column) => addedAs(column) === undefined).map(({ name }) => sql.ref(name))
  const grouped = names.length === 0
    ? sql``
    : sql`where ${sql.join(names.map((name) => sql`${name} is not null`), sql` and `)} group by ${sql.join(names)}`
  const { rows } = await sql`
    select count(*) as count from ${sql.table(table)} ${grouped} having count(*) > 1 limit 1`.execute(db)
  return rows.length > 0
}

function whyNotAdded (model: Model, column: Column, dialect: Dialect): string {
  const where = nameField(model, column)
  return needsValue(column, dialect)
    ? `${where} is required, but table '${model.table}' has rows, which would have no value: give it a default ` +
      'that is no function, or declare it nullable and fill it'
    : `${where} is a foreign key with a default, which SQLite cannot add to table '${model.table}', because it has ` +
      'rows: declare it nullable and without a default, and fill it'
}

function whyNotUnique (model: Model, group: readonly Column[]): string {
  const fields = group.map(({ field }) => `'${field}'`).join(' and ')
  return `model '${model.name}' has unique ${fields}, but rows of table '${model.table}' have the same values: ` +
    'change these rows first, or do not declare it unique'
}
