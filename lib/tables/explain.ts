import { sql, type RawBuilder } from 'kysely'
import { readHandle, type AnyKysely } from '../database/engine.js'
import { failureKind } from '../engines/statement-failure.js'
import { messageOf } from '../errors.js'

/** Returns why the database refuses a statement, in its own words; undefined if it can plan the statement. */
export async function findFault (handle: AnyKysely, statement: RawBuilder<unknown>): Promise<string | undefined> {
  const { db, dialect } = readHandle(handle)
  return await sql`explain ${statement}`.execute(db).then(() => undefined, (failure: unknown) => {
    // A lock, or a file that cannot be read, says nothing of the statement.
    if (failureKind(dialect, failure) !== undefined) throw failure
    return messageOf(failure)
  })
}

/**
 * Returns why the database refuses a statement if its failure has one of the codes. Otherwise undefined: of a failure
 * for another reason, such as a missing grant for the table, nothing follows.
 */
export async function findFaultOf (
  codes: readonly string[], handle: AnyKysely, statement: RawBuilder<unknown>
): Promise<string | undefined> {
  const { db, dialect: { codesOf } } = readHandle(handle)
  return await sql`explain ${statement}`.execute(db).then(() => undefined, (failure: unknown) =>
    failure instanceof Error && codesOf(failure).some((code) => codes.includes(code)) ? messageOf(failure) : undefined)
}
