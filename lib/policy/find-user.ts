import { readHandle, type AnyKysely } from '../database/engine.js'
import { run, search } from '../database/run.js'
import type { Dialect } from '../engines/dialect.js'
import type { Outcome, Row, MaybePromise } from '../engines/executor.js'
import type { Stored } from '../engines/storage.js'
import { decode, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { conditionSql } from '../sql/condition.js'
import { selection } from '../sql/selection.js'
import { oneRow, placeholder, withParameters } from '../sql/statements.js'
import type { Json, RecordKey } from '../values/values.js'
import type { PolicyUser } from './policy.js'

/** Columns of a user model that a login needs. */
export interface UserColumns {
  readonly username: Column
  readonly password: Column
  /** Absent if every user is active. */
  readonly active: Column | undefined
  /** Absent if no user is an admin. */
  readonly admin: Column | undefined
}

/** A user as read for a login. */
export interface FoundUser extends PolicyUser {
  readonly password: string | null
  readonly active: boolean
}

/**
 * Compiles a function that finds a user by exact name. If several users have the name, it finds the one with the lowest
 * id. It reads the database for each request, so that a change of the user counts at once.
 */
export function compileFindUser (
  handle: AnyKysely, users: Model, columns: UserColumns
): (username: string) => MaybePromise<FoundUser | undefined> {
  const engine = readHandle(handle)
  const { columns: [primaryKey] } = users
  const wanted = [primaryKey, columns.password, columns.active, columns.admin].filter((column) => column !== undefined)
  const compile = (dialect: Dialect) => {
    const isNamed = conditionSql({ column: columns.username, operator: 'eq', values: [placeholder] }, dialect)
    return engine.db.selectFrom(users.table).select(selection(wanted, dialect)).where(isNamed)
      .orderBy(primaryKey.name).limit(oneRow).compile()
  }
  const compiled = compile(engine.dialect)
  const toUser = userMaker(primaryKey, columns, engine.dialect)
  const userOf = ({ row }: Outcome): FoundUser | undefined => row && toUser(row)
  return (username) => {
    const found = search(engine, (other) => {
      const statement = other === engine ? compiled : compile(other.dialect)
      return run(other, withParameters(statement)(...statement.parameters.map(() => username)))
    })
    return found instanceof Promise ? found.then(userOf) : userOf(found)
  }
}

function userMaker (
  primaryKey: Column, { password, active, admin }: UserColumns, dialect: Dialect
): (row: Row) => FoundUser {
  const valueOf = (row: Row, column: Column): Json => decode(column, row[column.key] as Stored, dialect)
  return (row) => ({
    id: valueOf(row, primaryKey) as RecordKey,
    password: valueOf(row, password) as string | null,
    active: active === undefined || valueOf(row, active) === true,
    admin: admin !== undefined && valueOf(row, admin) === true
  })
}
