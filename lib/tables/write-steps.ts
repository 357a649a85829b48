import { sql, type RawBuilder } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import { isForeignKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { addColumn, addUnique, dropIndex, momentOf, needsEmptyTable } from './alter-table.js'
import { namesOf, type NamedIndex, type TableChange } from './existing-parts.js'
import type { MigrationPlan } from './plan-migration.js'
import type { PlannedTable, Reference } from './plan-tables.js'
import {
  addReference, createIndex, createTable, indexesOf, referenceNameOf, uniqueNameOf, type SchemaTarget
} from './table.js'

/** Receiver of the steps of a migration. */
export interface MigrationTarget extends SchemaTarget {
  /** Takes a statement that Kysely's schema builder cannot make. */
  run (statement: RawBuilder<unknown>): void
  /** Takes a comment on the statement that follows. */
  comment (text: string): void
  /** Takes a check that fails if a table has rows, because the engine then cannot add the column. */
  requireEmpty (table: string, column: string): void
}

/** Writes the steps that add what a database lacks. Checks that fail if a table has rows come first. */
export async function writeUp (to: MigrationTarget, plan: MigrationPlan, dialect: Dialect): Promise<void> {
  const { tables: { tables, references }, changes } = plan
  for (const { model: { table }, columns } of changes) {
    const [refused] = columns.filter((column) => needsEmptyTable(column, dialect))
    if (refused !== undefined) to.requireEmpty(table, refused.name)
  }
  for (const table of tables) {
    await createTable(to, table, dialect)
    for (const index of indexesOf(table.model, dialect)) await createIndex(to, table.model, index)
  }
  for (const reference of references) await addReference(to, reference)
  for (const change of changes) await writeChange(to, change, dialect)
  // MariaDB refuses to drop an index that a foreign key needs. So `down` drops foreign keys first, and `up` adds them
  // last.
  for (const reference of addedReferences(changes, dialect)) await addReference(to, reference)
}

async function writeChange (
  to: MigrationTarget, { model, columns, unique, indexes }: TableChange, dialect: Dialect
): Promise<void> {
  for (const column of columns) {
    await addColumn(to, { model, column }, dialect)
    writeMoment(to, model, { column, moment: momentOf(column, dialect) })
  }
  for (const group of unique) await addUnique(to, model, group)
  for (const index of indexes) await createIndex(to, model, index)
}

function writeMoment (
  to: MigrationTarget, { table }: Model,
  { column: { name }, moment }: { readonly column: Column, readonly moment: RawBuilder<unknown> | undefined }
): void {
  if (moment === undefined) return
  to.comment('SQLite adds no column whose default is the current moment. The API sets it; other programs must, too.')
  to.run(sql`update ${sql.table(table)} set ${sql.ref(name)} = ${moment}`)
}

/** Returns the foreign keys of added columns. Returns none for SQLite, which adds a foreign key with its column. */
function addedReferences (changes: readonly TableChange[], { schema }: Dialect): readonly Reference[] {
  if (schema.altersByColumn === true) return []
  return changes.flatMap(({ model, columns }) =>
    columns.filter(isForeignKey).map((column) => ({ model, column })))
}

/** Writes the steps that undo those of {@link writeUp}, in reverse. */
export async function writeDown (to: MigrationTarget, plan: MigrationPlan, dialect: Dialect): Promise<void> {
  const { tables: { tables, references }, changes } = plan
  for (const reference of addedReferences(changes, dialect).toReversed()) await dropReference(to, reference, dialect)
  for (const { model: { table }, columns, unique, indexes, replaced = [] } of changes.toReversed()) {
    for (const index of replaced) await restoreIndex(to, table, index)
    const names = [...unique.map((group) => uniqueNameOf(table, namesOf(group))), ...indexes.map(({ name }) => name)]
    for (const name of names.toReversed()) await dropIndex(to, { table, name }, dialect)
    for (const { name } of columns.toReversed()) await to.schema.alterTable(table).dropColumn(name).execute()
  }
  for (const reference of references.toReversed()) await dropReference(to, reference, dialect)
  const unchecked = hasCircle(tables) ? dialect.schema.unchecked : undefined
  if (unchecked !== undefined) to.run(unchecked.begin)
  for (const { model: { table } } of tables.toReversed()) await to.schema.dropTable(table).execute()
  if (unchecked !== undefined) to.run(unchecked.end)
}

/**
 * Writes the step of `down` that creates an index again if MariaDB has dropped it. MariaDB drops the index that it made
 * for a foreign key when `up` adds a unique index that serves the foreign key, too.
 */
async function restoreIndex (to: MigrationTarget, table: string, { name, columns }: NamedIndex): Promise<void> {
  to.comment('MariaDB drops the index that it made for a foreign key when another one serves the foreign key.')
  await to.schema.createIndex(name).ifNotExists().on(table).columns([...columns]).execute()
}

async function dropReference (
  to: MigrationTarget, { model: { table }, column }: Reference, { schema }: Dialect
): Promise<void> {
  const name = referenceNameOf(table, column)
  if (schema.dropReference === undefined) await to.schema.alterTable(table).dropConstraint(name).execute()
  else to.run(schema.dropReference(sql.table(table), sql.ref(name)))
}

/** True if a table refers to one that is created after it, so that they form a circle. */
function hasCircle (tables: readonly PlannedTable[]): boolean {
  const waiting = new Set(tables.map(({ model }) => model))
  return tables.some(({ model, references }) => {
    waiting.delete(model)
    return references.some(({ target }) => waiting.has(target()))
  })
}
