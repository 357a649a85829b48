import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Query } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import type { Column } from '../model/column.js'
import type { GuardedReference, ScopedRecord } from '../plan/record-guard.js'
import type { Scope } from '../plan/viewer.js'
import { selection } from './selection.js'
import { ShapedStatement, type Build } from './shaped-statement.js'
import type { SqlContext } from './sql-context.js'
import { where, type StatementShape } from './statements.js'

/** The values that a write sets, and the conditions on the records that foreign keys among these values refer to. */
export interface ScopedValues {
  readonly values: ReadonlyMap<Column, Stored>
  readonly references: readonly GuardedReference[]
}

/**
 * Returns the statement that selects columns of a record, if the record meets all conditions of `record.scope`. If
 * `record` has an `ownerId` and the resource an owner field, that user must own the record, too.
 */
export function scopedSelect (
  context: SqlContext, shape: StatementShape, columns: 'visible' | 'stored', record: ScopedRecord
): Query {
  const { db, dialect } = context
  const statement = new ShapedStatement(`read ${columns}`, shape, dialect)
  const conditions = statement.isRecord(record)
  return statement.compileOnce(context, () => whereAll(
    db.selectFrom(shape.model.table).select(selection(shape[columns], dialect)), conditions))
}

/**
 * Returns a statement that selects the stored columns as {@link scopedSelect} does. On engines that lock single rows,
 * it also locks the record until the transaction ends. On SQLite, the transaction has locked the whole database for
 * writes already.
 */
export function lockingSelect (context: SqlContext, shape: StatementShape, record: ScopedRecord): Query {
  const { db, dialect } = context
  const statement = new ShapedStatement('lock stored', shape, dialect)
  const conditions = statement.isRecord(record)
  return statement.compileOnce(context, () => whereAll(
    db.selectFrom(shape.model.table).select(selection(shape.stored, dialect)), conditions)
    .$if(dialect.locksRows, (select) => select.forUpdate()))
}

/**
 * Returns the statement that deletes a record, if the record meets all conditions of `record.scope`. If `record` has an
 * `ownerId` and the resource an owner field, that user must own the record, too. If the scope {@link isSeenLate}, the
 * statement deletes nothing if it had to wait for another write of the record.
 */
export function scopedDelete (context: SqlContext, shape: StatementShape, record: ScopedRecord): Query {
  const statement = new ShapedStatement('delete', shape, context.dialect)
  const conditions = [...statement.isRecord(record), ...statement.isUnwritten(record)]
  return statement.compileOnce(context, () => whereAll(context.db.deleteFrom(shape.model.table), conditions))
}

/**
 * Returns the statement that changes a record, if the record meets all conditions of `record.scope`, and each of
 * `references` refers to a record that meets the conditions of the reference. If `record` has an `ownerId` and the
 * resource an owner field, that user must own the record, too. If what it checks {@link isSeenLate}, it changes nothing
 * if it had to wait for another write of the record. The statement returns the visible columns if the engine
 * can do that.
 */
export function scopedUpdate (
  context: SqlContext, shape: StatementShape, record: ScopedRecord, { values, references }: ScopedValues
): Query {
  const { db, dialect } = context
  const statement = new ShapedStatement('update', shape, dialect)
  const changes = statement.write(values)
  const conditions = [
    ...statement.isRecord(record), ...statement.isUnwritten({ ...record, references }), ...statement.leads(references)
  ]
  return statement.compileOnce(context, () =>
    whereAll(db.updateTable(shape.model.table).set(Object.fromEntries(changes)), conditions)
      .$if(dialect.returnsUpdates, (update) => update.returning(selection(shape.visible, dialect))))
}

/**
 * Returns the statement that creates a record, if each of `references` refers to a record that meets the conditions of
 * the reference. The statement returns the visible columns.
 */
export function scopedInsert (
  context: SqlContext, shape: StatementShape, { values, references }: ScopedValues
): Query {
  const { db, dialect } = context
  const statement = new ShapedStatement('create', shape, dialect)
  const written = statement.write(values)
  const conditions = statement.leads(references)
  return statement.compileOnce(context, () => db.insertInto(shape.model.table)
    .columns(written.map(([name]) => name))
    .expression(whereAll(db.selectNoFrom(written.map(([name, slot]) => sql`${slot}`.as(name))), conditions))
    .returning(selection(shape.visible, dialect)))
}

/** Returns the statement that selects one row if a foreign key refers to a record inside a scope, otherwise none. */
export function referenceExists (
  context: SqlContext, { column, value, scope }: Pick<GuardedReference, 'column' | 'value'> & { readonly scope: Scope }
): Query {
  const model = column.target()
  const { name, table } = model
  const shape = { name: table, cachedAs: `${name} in ${table}`, model, owner: undefined }
  const statement = new ShapedStatement('reference', shape, context.dialect)
  return selectIfLeads(context, statement, [{ column, value, visible: scope, required: [] }])
}

/**
 * Returns a select that finds one row if each foreign key in `references` refers to a record that meets the conditions
 * given with that foreign key, otherwise no row.
 */
export function permittedReferences (
  context: SqlContext, shape: StatementShape, references: readonly GuardedReference[]
): Query {
  return selectIfLeads(context, new ShapedStatement('references', shape, context.dialect), references)
}

function selectIfLeads (
  context: SqlContext, statement: ShapedStatement, references: readonly GuardedReference[]
): Query {
  const conditions = statement.leads(references)
  return statement.compileOnce(context, () => whereAll(context.db.selectNoFrom(sql.lit(1).as('one')), conditions))
}

/** Builds conditions, and adds them to a statement as {@link where} does. */
export function whereAll<Built extends { where (condition: RawBuilder<SqlBool>): Built }> (
  query: Built, conditions: readonly Build[]
): Built {
  return where(query, conditions.map((build) => build()))
}
