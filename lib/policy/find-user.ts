import { sql, type SqlBool } from 'kysely'
import { decode, primaryKey, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { readHandle, run, type AnyKysely, type Row } from '../query/engine.js'
import { columnRef, selection } from '../query/selection.js'
import { placeholder, withParameters } from '../query/statements.js'
import type { Stored } from '../vocabulary/storage.js'
import type { Json } from '../vocabulary/values.js'
import type { PolicyUser } from './policy.js'

/** Where a user model keeps what a login needs. */
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

/** Finds a user by exact name; of several the one with the lowest id. Read anew for each request, so that a change counts at once. */
export function compileFindUser (handle: AnyKysely, users: Model, columns: UserColumns): (username: string) => Promise<FoundUser | undefined> {
  const engine = { ...readHandle(handle), hasDeadline: false }
  const { dialect } = engine
  const wanted = [primaryKey, ...Object.values(columns)].filter((column) => column !== undefined)
  const isNamed = sql<SqlBool>`${dialect.exact(sql`${columnRef(columns.username)}`)} = ${placeholder}`
  const query = withParameters(
    engine.db.selectFrom(users.table).select(selection(wanted, dialect.name)).where(isNamed).orderBy('id').compile())
  const valueOf = (row: Row, column: Column | undefined): Json => column ? decode(column, row[column.key] as Stored, dialect.name) : null
  return async (username) => {
    const { rows: [row] } = await run(engine, query(username))
    return row && {
      id: valueOf(row, primaryKey) as number,
      password: valueOf(row, columns.password) as string | null,
      active: columns.active === undefined || valueOf(row, columns.active) === true,
      admin: valueOf(row, columns.admin) === true
    }
  }
}
