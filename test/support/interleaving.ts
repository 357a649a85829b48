import type { CompiledQuery, DatabaseConnection, Kysely } from 'kysely'
import type { Test } from 'tap'
import type { Policy } from '../../lib/index.js'
import type { Passwords } from '../../lib/policy/passwords.js'
import type { Tables } from '../../lib/engines/executor.js'
import { beforeDirect, engine } from './database.js'

type Execute = (query: CompiledQuery) => Promise<unknown>

/**
 * Runs something before each statement from now on, of a database of SQLite or of all connections of this process,
 * until the test ends. What it executes runs on another connection where there are several, as somebody else's
 * statement would. On SQLite nothing is waited for: what it executes is done when the call returns.
 */
export async function beforeStatements (
  t: Test, db: Kysely<Tables>, act: (sql: string, execute: Execute) => Promise<void> | void
): Promise<void> {
  const own = new WeakSet<CompiledQuery>()
  await db.getExecutor().provideConnection(async (connection) => {
    const target = engine === 'sqlite' ? connection : Object.getPrototypeOf(connection) as DatabaseConnection
    const { executeQuery } = target
    const execute = async (query: CompiledQuery) => {
      if (engine === 'sqlite') return await executeQuery.call(connection, query)
      own.add(query)
      return await db.executeQuery(query)
    }
    target.executeQuery = async function <Row> (this: DatabaseConnection, query: CompiledQuery) {
      if (!own.has(query)) await act(query.sql, execute)
      return await executeQuery.call<DatabaseConnection, [CompiledQuery], ReturnType<typeof executeQuery<Row>>>(
        this, query
      )
    }
    t.teardown(() => { target.executeQuery = executeQuery })
    beforeDirect(db, ({ sql }) => act(sql, execute))
  })
}

/**
 * A policy whose checks of passwords can be made to come at the same moment, however long the users were looked for.
 */
export interface Gated {
  readonly policy: Policy
  /** The next checks wait until there are so many. */
  expect (count: number): void
}

export function gate (policy: Policy): Gated {
  let missing = 0
  let open = (): void => {}
  let opened = Promise.resolve()
  const authenticator: Policy['authenticator'] = (setting) => {
    const matches: Passwords['matches'] = async (given, stored) => {
      if (--missing === 0) open()
      await opened
      return await setting.passwords.matches(given, stored)
    }
    return policy.authenticator({
      ...setting, passwords: Object.create(setting.passwords, { matches: { value: matches } }) as Passwords
    })
  }
  return {
    policy: { ...policy, authenticator },
    expect: (count) => {
      missing = count
      opened = new Promise((resolve) => { open = resolve })
    }
  }
}
