import { CompiledQuery, sql, type Compilable, type RawBuilder, type SqlBool } from 'kysely'
import type { Query } from '../engines/executor.js'
import { Slot, type Stored } from '../engines/storage.js'
import type { StatementLabel, StatementOperation } from '../events/messages.js'
import type { Column, ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { hasTextKey, keyColumnsOf } from '../model/key.js'
import { exactCondition, keyConditions, selection } from './selection.js'
import type { SqlContext } from './sql-context.js'

/** The table of a resource and the columns that its statements name. */
export interface StatementShape {
  /** Name of the resource. */
  readonly name: string
  /**
   * Name under which statements are cached; if absent, `name`. A second shape of a resource, with other columns, needs
   * its own, because its statements have other SQL.
   */
  readonly cachedAs?: string
  readonly model: Model
  /** Columns that statements return: those that records show; for writes with hooks, all except hidden passwords. */
  readonly visible: readonly Column[]
  /**
   * Columns that are read before an update or delete: the visible ones and the owner. Other hidden columns are read
   * only for hooks. If bodies were compared with them, clients could find out their values by how an update is
   * answered.
   */
  readonly stored: readonly Column[]
  /** Columns that a create writes: all except a key that the database generates, and what only the database fills. */
  readonly created: readonly Column[]
  readonly owner: ForeignKeyColumn | undefined
}

/** Statements of a resource whose SQL is the same for all requests, compiled once at setup. */
export interface Statements {
  /** Selects the visible columns in `readDb`, if that option is given. Parameters: the values of the key's columns. */
  readonly read: Statement
  /** Selects {@link StatementShape.stored} in `db`, even if there is a `readDb`. Parameters: as for `read`. */
  readonly stored: Statement
  /** Inserts a record and returns its visible columns. Parameters: a value for each of `created`, in model order. */
  readonly create: Statement
  /** Selects the visible columns in `db`, after a write of the record. Parameters: as for `read`. */
  readonly written: Statement
  /**
   * Deletes a record. If the resource has an owner field, it deletes only a record that the given user owns.
   * Parameters: those of `read`, and the id of the user if there is such a field.
   */
  readonly delete: Statement
  /** True if a column of the primary key holds texts, whose comparison depends on a collation. */
  readonly comparesTexts: boolean
  /**
   * True if triggers may change a record after the write has returned it, or in place of a delete. The record is then
   * read again after the write.
   */
  readonly isTriggered: boolean
  /** True if a create reads the record again, because of triggers, or because it returns a column's wrong value. */
  readonly readsCreated: boolean
  /** True if a delete locks the record first, because a trigger may change the record in place of the delete. */
  readonly locksDeletes: boolean
}

export type Statement = (...parameters: readonly Stored[]) => Query

const selectNoRow: CompiledQuery = CompiledQuery.raw('select 1 where 1 = 0')

/**
 * Returns the same read, with a replacement that finds no row. The replacement runs if the engine cannot compare a text
 * with the character set of its column, because no row can hold such a text in that column. Without it, the read would
 * fail.
 */
export function toFindText (query: Query): Query {
  return withReplacement(query, () => selectNoRow)
}

/** Returns the same statement with a replacement, as {@link Query.withoutIndex} describes it. */
export function withReplacement (
  { query, queryId, sql, parameters, label }: Query, withoutIndex: () => CompiledQuery
): Query {
  return { query, queryId, sql, parameters, label, withoutIndex }
}

/**
 * Limit of one row. It is a literal, because each parameter of a statement for {@link withParameters} must be a slot.
 */
export const oneRow = sql.lit(1)

/**
 * Compiles the statements of a resource whose SQL is the same for all requests. The statement `read` is for `reader`,
 * which may be another database (the option `readDb`); all others are for `engine`.
 */
export function compileStatements (
  engine: SqlContext, reader: SqlContext, shape: StatementShape
): Statements {
  const { db, dialect } = engine
  const { model, visible, stored, created } = shape
  const read = (context: SqlContext, columns: readonly Column[]) =>
    where(db.selectFrom(model.table).select(selection(columns, context.dialect)), isTheOne(context, shape))
  const table = db.insertInto(model.table)
  const insert = created.length === 0 ? table.expression(dialect.emptyRow) : table.values(slotsOf(created))
  const compile = (operation: StatementOperation, query: Compilable): Statement =>
    withParameters(query.compile(), { operation, resource: shape.name })
  const { changedLater = new Set() } = dialect
  const isTriggered = changedLater.has(model)
  return Object.freeze({
    read: compile('read', read(reader, visible)),
    stored: compile('lock', read(engine, stored)),
    create: compile('create', insert.returning(selection(visible, dialect))),
    written: compile('read', read(engine, visible)),
    delete: compile('delete', where(db.deleteFrom(model.table), isOwn(engine, shape))),
    comparesTexts: hasTextKey(model),
    isTriggered,
    readsCreated: isTriggered || visible.some((column) => changedLater.has(column)),
    // A server cannot lock the rows of some views.
    locksDeletes: isTriggered && (dialect.isEmbedded || dialect.views?.has(model) !== true)
  })
}

/**
 * Returns the statement that changes some columns of one record. If the resource has an owner field, it changes only a
 * record that the given user owns. The statement returns the record if the engine can do that.
 *
 * @param own  the parameters of {@link Statements.delete}
 */
export function updateStatement (
  engine: SqlContext, shape: StatementShape, values: ReadonlyMap<Column, Stored>, own: readonly Stored[]
): Query {
  const changed = [...values.keys()]
  const name = `update ${shape.cachedAs ?? shape.name} ${changed.map(({ key }) => key).join()}`
  const compiled = engine.shapes.memo(name, { context: () => compileUpdate(engine, shape, changed) })
  return fill(compiled, [...values.values(), ...own], { operation: 'update', resource: shape.name })
}

function compileUpdate (engine: SqlContext, shape: StatementShape, changed: readonly Column[]): CompiledQuery {
  const { db, dialect } = engine
  const { model, visible } = shape
  const update = where(db.updateTable(model.table).set(slotsOf(changed)), isOwn(engine, shape, changed.length))
  return (dialect.returnsUpdates ? update.returning(selection(visible, dialect)) : update).compile()
}

type Conditions = ReadonlyArray<RawBuilder<SqlBool>>

/** Returns a {@link Slot} for the value of each column, by the name of the column, in their order. */
function slotsOf (columns: readonly Column[]): Readonly<Record<string, Slot>> {
  return Object.fromEntries(columns.map(({ name }, index) => [name, new Slot(index)]))
}

/**
 * Returns the conditions that a row is the record of a key. The values of the key fill the slots from position `from`
 * on.
 */
function isTheOne ({ dialect }: SqlContext, { model }: StatementShape, from = 0): Conditions {
  return keyConditions(model, keyColumnsOf(model).map((_column, index) => new Slot(from + index)), dialect)
}

/**
 * Returns the conditions that a row is the record of a key and, if the resource has an owner field, that this field
 * holds the id of the user. The values of the key fill the slots from position `from` on, and the id fills the next.
 */
function isOwn (context: SqlContext, shape: StatementShape, from = 0): Conditions {
  const { model, owner } = shape
  const isRecord = isTheOne(context, shape, from)
  const value = new Slot(from + keyColumnsOf(model).length)
  return owner === undefined ? isRecord : [...isRecord, exactCondition({ column: owner, value }, context.dialect)]
}

/** Adds conditions to a statement, all of which must hold. */
export function where<Query extends { where (condition: RawBuilder<SqlBool>): Query }> (
  query: Query, conditions: Conditions
): Query {
  return conditions.reduce((narrowed, condition) => narrowed.where(condition), query)
}

/** Returns a function that fills a compiled statement with values, as {@link fill} does. */
export function withParameters (compiled: CompiledQuery, label: StatementLabel): Statement {
  return (...values) => fill(compiled, values, label)
}

/**
 * Returns a compiled statement with its label and with values: the value at index n becomes each parameter that was
 * compiled as `new Slot(n)`.
 */
function fill (
  { query, queryId, sql, parameters: slots }: CompiledQuery, values: readonly Stored[], label: StatementLabel
): Query {
  const parameters = slots.map((slot) => values[(slot as Slot).position] as Stored)
  return { query, queryId, sql, parameters, label }
}
