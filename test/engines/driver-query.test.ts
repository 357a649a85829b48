// @once: about the queries of one driver

import { EventEmitter } from 'node:events'
import pg from 'pg'
import { test } from 'tap'
import { PostgresConnection } from '../../lib/engines/postgres/connection.js'
import type { DriverClient } from '../../lib/engines/postgres/driver.js'
import type { DriverQuery } from '../../lib/engines/postgres/driver-query.js'
import { PreparedStatements } from '../../lib/engines/server/prepared-statements.js'

type Done = (error: null, result: object) => void

/** A connection whose driver keeps the queries that it gets, and adds a property to each, as old versions do. */
function connectionWith (prepared: PreparedStatements<DriverClient> | undefined) {
  const queries: DriverQuery[] = []
  const own: string[][] = []
  const client = Object.assign(new EventEmitter(), {
    connection: { stream: { writable: true } },
    query: (query: DriverQuery, values: unknown[], done: Done) => {
      own.push(Object.getOwnPropertyNames(query))
      queries.push(Object.assign(query, { values }))
      done(null, { rows: [] })
    }
  })
  const raw = client as unknown as DriverClient
  const connection = new PostgresConnection(
    { raw, release: () => {}, abandon: () => {} }, { prepared, timeout: 1000, leave: () => {} })
  return { connection, queries, own }
}

/** The parts of a query as the driver reads them. */
function readByDriver (query: DriverQuery) {
  const read: object = new pg.Query(query as pg.QueryConfig)
  const { text, values, name, _rowMode: rowMode } = read as Record<string, unknown>
  return { text, values, name, rowMode }
}

const text = 'select id from note where id = $1'
const asked = { sql: text, parameters: [1] } as never

test('a prepared statement has no own property, which the driver would copy, and the driver reads all', async (t) => {
  const { connection, queries, own } = connectionWith(new PreparedStatements(() => {}))
  await connection.askArrays(asked)
  await connection.askArrays(asked)
  await connection.askObjects(asked)
  await connection.askArrays(asked)
  t.same(own, [['text', 'rowMode'], [], [], []], 'a statement is prepared from its second use on')
  const name = queries[1]?.name
  t.match(name, /^rest_models_/)
  const base = { text, values: [1] }
  t.same(queries.map(readByDriver), [
    { ...base, name: undefined, rowMode: 'array' }, { ...base, name, rowMode: 'array' },
    { ...base, name, rowMode: undefined }, { ...base, name, rowMode: 'array' }
  ])
})

test('a statement that is not prepared has only the properties that say something', async (t) => {
  const { connection, own } = connectionWith(undefined)
  await connection.askObjects(asked)
  await connection.askArrays(asked)
  t.same(own, [['text'], ['text', 'rowMode']])
})
