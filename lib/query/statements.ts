import { sql, type CompiledQuery, type SqlBool } from 'kysely'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Stored } from '../vocabulary/storage.js'
import type { Engine } from './engine.js'
import { columnRef, selection } from './selection.js'

/** The table of a resource and the columns that its statements name. */
export interface StatementShape {
  readonly model: Model
  /** What a record shows. */
  readonly visible: readonly Column[]
  /** What a write looks at: the visible columns and the owner; comparing a body with others would tell what they hold. */
  readonly stored: readonly Column[]
  readonly owner: Column | undefined
}

/** The statements of a resource whose shape no request changes, compiled once. */
export interface Statements {
  /** Parameter: the id. */
  readonly read: Statement
  /** Parameter: the id. */
  readonly stored: Statement
  /** Parameters: a value for each column but the primary key, in the order of the model. */
  readonly create: Statement
  /** Parameters: the id, and the id of the owner if the resource has an owner field. */
  readonly delete: Statement
}

export type Statement = (...parameters: readonly Stored[]) => CompiledQuery

/** Values in a compiled shape stand for those of a request, in the same order. */
export const placeholder = 0

/** Compiles the fixed statements of a resource. */
export function compileStatements ({ db, dialect }: Engine, { model, visible, stored, owner }: StatementShape): Statements {
  const byId = (columns: readonly Column[]) =>
    withParameters(db.selectFrom(model.table).select(selection(columns, dialect.name)).where('id', '=', placeholder).compile())
  const written = Object.fromEntries(model.columns.slice(1).map(({ name }) => [name, placeholder]))
  const remove = db.deleteFrom(model.table).where('id', '=', placeholder)
  return Object.freeze({
    read: byId(visible),
    stored: byId(stored),
    create: withParameters(db.insertInto(model.table).values(written).returning(selection(visible, dialect.name)).compile()),
    delete: withParameters((owner ? remove.where(isOwner(owner, placeholder)) : remove).compile())
  })
}

/** An update of some columns of one record; of the owner's record only, if there is an owner. */
export function compileUpdate (
  { db, dialect }: Engine, { model, visible, owner }: StatementShape,
  { id, values, ownerId }: { readonly id: number, readonly values: ReadonlyMap<Column, Stored>, readonly ownerId: Stored }
): CompiledQuery {
  const changes = Object.fromEntries([...values].map(([column, value]) => [column.name, value]))
  const update = db.updateTable(model.table).set(changes).where('id', '=', id).returning(selection(visible, dialect.name))
  return (owner ? update.where(isOwner(owner, ownerId)) : update).compile()
}

function isOwner (owner: Column, id: Stored) {
  return sql<SqlBool>`${columnRef(owner)} = ${id}`
}

/** A statement of a compiled shape. */
export function withParameters (compiled: CompiledQuery): Statement {
  return (...parameters) => ({ ...compiled, parameters })
}
