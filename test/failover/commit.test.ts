// @once: needs no server

import type { CompiledQuery } from 'kysely'
import { Kysely } from 'kysely'
import { test } from 'tap'
import { MariadbConnection } from '../../lib/engines/mariadb/connection.js'
import type { DriverConnection } from '../../lib/engines/mariadb/driver.js'
import { MariadbDialect } from '../../lib/mariadb.js'
import type { Tables } from '../../lib/engines/executor.js'
import { writeAndRead } from '../../lib/database/transaction.js'
import { dialects } from '../../lib/database/dialects.js'
import { handleOf } from '../../lib/database/engine.js'

type Done = (error: object | null, result?: unknown) => void

/** What a node of Galera says that is cut off from the others while it commits. */
const failures: Readonly<Record<string, object>> = {
  commit: Object.assign(new Error('Got error during COMMIT'), { errno: 1180, code: 'ER_ERROR_DURING_COMMIT' }),
  rollback: Object.assign(new Error('WSREP has not yet prepared node for application use'), {
    errno: 1047, code: 'ER_UNKNOWN_COM_ERROR'
  })
}

test('MariaDB: a change whose commit may have happened is not made again, whatever the rollback says', async (t) => {
  const sent: string[] = []
  let left = 0
  const answer = (sql: string, _values: unknown[], done: Done): void => {
    sent.push(sql)
    done(failures[sql] ?? null, sql === 'update' ? { insertId: 0, affectedRows: 1, changedRows: 1 } : [])
  }
  const driver = {
    query: answer,
    execute: answer,
    destroy: () => { sent.push('closed') },
    release: () => {},
    stream: { destroy: () => {}, writable: true }
  } as unknown as DriverConnection
  const options = {
    connections: 1, readConnections: 1, statementTimeout: 0, preparedStatements: true, writable: true, readonly: false
  }
  const pool = {
    getConnection: (callback: (error: unknown, connection: MariadbConnection) => void) => {
      const lease = { raw: driver, release: () => {}, abandon: () => {} }
      callback(null, new MariadbConnection(lease, { options, prepared: undefined, leave: () => { left++ } }))
    },
    end: (callback: (error: unknown) => void) => { callback(null) }
  }
  const db = new Kysely<Tables>({ dialect: new MariadbDialect({ pool }) })
  const query = (sql: string): CompiledQuery => ({ ...db.selectNoFrom([]).compile(), sql })
  const handle = handleOf(db, dialects.mariadb)
  const change = writeAndRead(handle, { write: query('update'), read: () => query('select') })
  await t.rejects(change, { code: 'REST_MODELS_OUTCOME_UNKNOWN', statusCode: 503, cause: { errno: 1180 } })
  t.same(sent, ['begin', 'update', 'select', 'commit', 'rollback', 'closed'])
  t.ok(left > 0, 'and the next request goes to another node')
})
