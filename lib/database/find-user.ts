import type { Dialect } from '../engines/dialect.js'
import type { MaybePromise, Outcome, Query } from '../engines/executor.js'
import { Slot } from '../engines/storage.js'
import { decodeIn, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { conditionSql, withoutSeeks } from '../sql/condition.js'
import { selection } from '../sql/selection.js'
import { oneRow, withParameters, withReplacement } from '../sql/statements.js'
import { isPromise, type RecordKey } from '../values/values.js'
import type { Handle } from './engine.js'

/** Columns of a user model that a login needs. */
export interface UserColumns {
  readonly username: Column
  readonly password: Column
  /** Boolean column that is true if the user may log in. Undefined if every user may. */
  readonly active: Column | undefined
  /** Boolean column that is true for admins. Undefined if no user is an admin. */
  readonly admin: Column | undefined
  /** Further columns of the user that the policy asks for. */
  readonly further: readonly Column[]
}

/** A user as read for a login. */
export interface FoundUser {
  /** The user as the policy gives it. It also has {@link UserColumns.further}, by the names of their fields. */
  readonly identity: { readonly id: RecordKey, readonly admin: boolean }
  readonly password: string | null
  readonly active: boolean
}

/**
 * Finds a user by exact name, even an inactive one; returns undefined if there is none. Of several users with that
 * name, it finds the one with the lowest id. It reads the database at each call, so that a change of the user counts at
 * once.
 */
export type FindUser = (username: string) => MaybePromise<FoundUser | undefined>

/**
 * Returns the {@link FindUser} of a model.
 *
 * @param engine  its dialect must know the types of the model's columns, as that of a resource does
 */
export function compileFindUser (engine: Handle, users: Model, columns: UserColumns): FindUser {
  const { dialect, executor } = engine
  const query = compileUserQuery(engine, users, columns)
  const other = dialect.seeksByCollation
    ? compileUserQuery({ ...engine, dialect: withoutSeeks(dialect) }, users, columns)
    : undefined
  const toUser = userMaker(users.primaryKey, columns, dialect)
  return (username) => {
    const asked = query(username)
    const found = executor.execute(other === undefined ? asked : withReplacement(asked, () => other(username)))
    return isPromise(found) ? found.then(toUser) : toUser(found)
  }
}

function compileUserQuery (
  { db, dialect }: Handle, users: Model, { username, password, active, admin, further }: UserColumns
): (username: string) => Query {
  const { primaryKey } = users
  const named = [primaryKey, password, active, admin].filter((column) => column !== undefined)
  const wanted = [...new Set([...named, ...further])]
  const isNamed = conditionSql({ column: username, operator: 'eq', values: [new Slot(0)] }, dialect)
  const compiled = db.selectFrom(users.table).select(selection(wanted, dialect)).where(isNamed)
    .orderBy(primaryKey.name).limit(oneRow).compile()
  return withParameters(compiled, { operation: 'login', resource: users.name })
}

/**
 * Returns the function that makes a user of a row. A user counts as inactive if a further column holds a value that no
 * record can show, such as infinity: it would be null, and a policy could take null for the value that lets a user in.
 */
function userMaker (
  primaryKey: Column, { password, active, admin, further }: UserColumns, dialect: Dialect
): (found: Outcome) => FoundUser | undefined {
  return ({ row }) => {
    if (row === undefined) return undefined
    const isAdmin = admin !== undefined && decodeIn(row, admin, dialect) === true
    const identity = { id: decodeIn(row, primaryKey, dialect) as RecordKey, admin: isAdmin }
    const stored = decodeIn(row, password, dialect) as string | null
    const isActive = active === undefined || decodeIn(row, active, dialect) === true
    if (further.length === 0) return { identity, password: stored, active: isActive }
    const fields = further.map((column) => [column, decodeIn(row, column, dialect)] as const)
    return {
      identity: { ...Object.fromEntries(fields.map(([{ field }, value]) => [field, value])), ...identity },
      password: stored,
      active: isActive && fields.every(([{ key }, value]) => value !== null || row[key] === null)
    }
  }
}
