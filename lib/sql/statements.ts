import { sql, type CompiledQuery, type RawBuilder, type SqlBool } from 'kysely'
import type { Parameter, Stored } from '../engines/storage.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { isEqual, selection } from './selection.js'
import type { SqlContext } from './sql-context.js'

/** The table of a resource and the columns that its statements name. */
export interface StatementShape {
  /** Name of the resource. */
  readonly name: string
  readonly model: Model
  /** What a record shows. */
  readonly visible: readonly Column[]
  /** What a write looks at: the visible columns and the owner; comparing a body with others would tell what they hold. */
  readonly stored: readonly Column[]
  readonly owner: Column | undefined
}

/** The statements of a resource whose shape no request changes, compiled once. */
export interface Statements {
  /** For the engine that reads. Parameter: the id. */
  readonly read: Statement
  /** Parameter: the id. */
  readonly stored: Statement
  /** Parameters: a value for each column that the database does not generate, in the order of the model. */
  readonly create: Statement
  /** The visible columns of the owner's record. Parameters: as of `delete`. */
  readonly own: Statement
  /** Parameters: the id, and the id of the owner if the resource has an owner field. */
  readonly delete: Statement
}

export type Statement = (...parameters: readonly Stored[]) => CompiledQuery

/** Values in a compiled shape stand for those of a request, in the same order. */
export const placeholder = 0

/** A limit that is no parameter. */
export const oneRow = sql.lit(1)

/** Compiles the fixed statements of a resource; `created` are the columns that a create writes. */
export function compileStatements (engine: SqlContext, reader: SqlContext, shape: StatementShape, created: readonly Column[]): Statements {
  const { db, dialect } = engine
  const { model, visible, stored } = shape
  const isTheOne = isEqual(model.columns[0], placeholder, dialect)
  const read = ({ dialect }: SqlContext, columns: readonly Column[]) => db.selectFrom(model.table).select(selection(columns, dialect)).where(isTheOne)
  const written = Object.fromEntries(created.map(({ name }) => [name, placeholder]))
  const isOwn = isOwned(engine, shape, placeholder)
  return Object.freeze({
    read: withParameters(read(reader, visible).compile()),
    stored: withParameters(read(engine, stored).compile()),
    create: withParameters(db.insertInto(model.table).values(written).returning(selection(visible, dialect)).compile()),
    own: withParameters(isOwn.reduce((query, condition) => query.where(condition), read(engine, visible)).compile()),
    delete: withParameters(isOwn.reduce((query, condition) => query.where(condition), db.deleteFrom(model.table).where(isTheOne)).compile())
  })
}

/**
 * The statement that changes some columns of one record; of the owner's record only, if there is an owner. It returns the
 * record where it can. Parameters: the values, in the order of the columns, and then as of `delete`.
 */
export function updateStatement (engine: SqlContext, shape: StatementShape, changed: readonly Column[]): Statement {
  const name = `update ${shape.name} ${changed.map(({ key }) => key).join()}`
  return withParameters(engine.shapes.compileOnce(name, () => compileUpdate(engine, shape, changed)))
}

function compileUpdate (engine: SqlContext, shape: StatementShape, changed: readonly Column[]): CompiledQuery {
  const { db, dialect } = engine
  const { model, visible } = shape
  const changes = Object.fromEntries(changed.map(({ name }) => [name, placeholder]))
  const isTheOne = isEqual(model.columns[0], placeholder, dialect)
  const update = isOwned(engine, shape, placeholder)
    .reduce((query, condition) => query.where(condition), db.updateTable(model.table).set(changes).where(isTheOne))
  return (dialect.returnsUpdates ? update.returning(selection(visible, dialect)) : update).compile()
}

/** The condition of the owner rule; none if the resource has no owner. */
function isOwned ({ dialect }: SqlContext, { owner }: StatementShape, id: Parameter): ReadonlyArray<RawBuilder<SqlBool>> {
  return owner === undefined ? [] : [isEqual(owner, id, dialect)]
}

/** A statement of a compiled shape. */
export function withParameters ({ query, queryId, sql }: CompiledQuery): Statement {
  return (...parameters) => ({ query, queryId, sql, parameters })
}
