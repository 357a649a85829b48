import { CompiledQuery, sql, type Compilable, type RawBuilder, type SqlBool } from 'kysely'
import type { Query } from '../engines/executor.js'
import type { Parameter, Stored } from '../engines/storage.js'
import type { StatementLabel, StatementOperation } from '../events/messages.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { keyColumnsOf } from '../model/key.js'
import { isEqual, isKey, selection } from './selection.js'
import type { SqlContext } from './sql-context.js'

/** The table of a resource and the columns that its statements name. */
export interface StatementShape {
  /** Name of the resource. */
  readonly name: string
  readonly model: Model
  /** Columns that a record shows. */
  readonly visible: readonly Column[]
  /**
   * Columns that are read before an update or delete: the visible ones and the owner. Hidden columns are not read,
   * because comparing a body with them would reveal their values.
   */
  readonly stored: readonly Column[]
  /** Columns that a create writes: all that the database does not generate. */
  readonly created: readonly Column[]
  readonly owner: Column | undefined
}

/** Statements of a resource whose SQL is the same for all requests, compiled once at setup. */
export interface Statements {
  /** Selects the visible columns, on the engine that reads. Parameters: the values of the key's columns. */
  readonly read: Statement
  /** Selects {@link StatementShape.stored}, on the engine that writes. Parameters: as for `read`. */
  readonly stored: Statement
  /** Inserts a record. Parameters: a value for each column that the database does not generate, in model order. */
  readonly create: Statement
  /**
   * Selects the visible columns on the engine that writes, but only if the user owns the record. Parameters: the same
   * as for `delete`.
   */
  readonly own: Statement
  /** Deletes a record. Parameters: those of `read`, and the id of the owner if the resource has an owner field. */
  readonly delete: Statement
}

export type Statement = (...parameters: readonly Stored[]) => Query

/**
 * Stands for each value of a request while a statement is compiled. A request later gives its values in the same order.
 */
export const placeholder = 0

/** Statement that selects nothing. */
export const nothing: CompiledQuery = CompiledQuery.raw('select 1 where 1 = 0')

/** Limit of one row, as a literal and not as a parameter. */
export const oneRow = sql.lit(1)

/** Compiles the fixed statements of a resource. */
export function compileStatements (
  engine: SqlContext, reader: SqlContext, shape: StatementShape
): Statements {
  const { db, dialect } = engine
  const { model, visible, stored, created } = shape
  const read = ({ dialect }: SqlContext, columns: readonly Column[]) =>
    where(db.selectFrom(model.table).select(selection(columns, dialect)), isTheOne(engine, model))
  const written = Object.fromEntries(created.map(({ name }) => [name, placeholder]))
  const isOwn = isOwned(engine, shape, placeholder)
  const compile = (operation: StatementOperation, query: Compilable): Statement =>
    withParameters(query.compile(), { operation, resource: shape.name })
  return Object.freeze({
    read: compile('read', read(reader, visible)),
    stored: compile('lock', read(engine, stored)),
    create: compile('create', db.insertInto(model.table).values(written).returning(selection(visible, dialect))),
    own: compile('read', where(read(engine, visible), isOwn)),
    delete: compile('delete', where(db.deleteFrom(model.table), [...isTheOne(engine, model), ...isOwn]))
  })
}

/**
 * Returns the statement that changes some columns of one record, or only of the owner's record if the resource has an
 * owner. The statement returns the record if the engine can do that. Parameters: the values, in the order of the
 * columns, and then the same as for `delete`.
 */
export function updateStatement (engine: SqlContext, shape: StatementShape, changed: readonly Column[]): Statement {
  const name = `update ${shape.name} ${changed.map(({ key }) => key).join()}`
  const label = { operation: 'update', resource: shape.name } as const
  return withParameters(engine.shapes.compileOnce(name, () => compileUpdate(engine, shape, changed)), label)
}

function compileUpdate (engine: SqlContext, shape: StatementShape, changed: readonly Column[]): CompiledQuery {
  const { db, dialect } = engine
  const { model, visible } = shape
  const changes = Object.fromEntries(changed.map(({ name }) => [name, placeholder]))
  const conditions = [...isTheOne(engine, model), ...isOwned(engine, shape, placeholder)]
  const update = where(db.updateTable(model.table).set(changes), conditions)
  return (dialect.returnsUpdates ? update.returning(selection(visible, dialect)) : update).compile()
}

type Conditions = ReadonlyArray<RawBuilder<SqlBool>>

/** Returns the conditions that a row is the record of a key. */
function isTheOne ({ dialect }: SqlContext, model: Model): Conditions {
  return isKey(model, keyColumnsOf(model).map(() => placeholder), dialect)
}

/** Adds conditions to a statement, all of which must hold. */
function where<Query extends { where (condition: RawBuilder<SqlBool>): Query }> (
  query: Query, conditions: Conditions
): Query {
  return conditions.reduce((narrowed, condition) => narrowed.where(condition), query)
}

/** Returns the condition that the owner of a record is `id`, in a list; an empty list if the resource has no owner. */
function isOwned (
  { dialect }: SqlContext, { owner }: StatementShape, id: Parameter
): Conditions {
  return owner === undefined ? [] : [isEqual(owner, id, dialect)]
}

/** Returns a function that takes parameters and returns the compiled statement with them, and with its label. */
export function withParameters ({ query, queryId, sql }: CompiledQuery, label: StatementLabel): Statement {
  return (...parameters) => ({ query, queryId, sql, parameters, label })
}
