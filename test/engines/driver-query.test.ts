// @once: about the queries of one driver

import pg from 'pg'
import { test } from 'tap'
import { inheritingQuery, type DriverQuery } from '../../lib/engines/postgres/driver-query.js'

/** The parts of a statement as the driver has read them. */
function readByDriver (query: DriverQuery) {
  const read: object = new pg.Query(query as pg.QueryConfig, [1])
  const { text, values, name, _rowMode: rowMode } = read as Record<string, unknown>
  return { text, values, name, rowMode }
}

test('a statement with a name has nothing that the driver would copy, and the driver finds all of it', (t) => {
  const text = 'select id from note where id = $1'
  for (const rowMode of ['array', undefined] as const) {
    const query = inheritingQuery({ text, name: 'one', rowMode })
    t.same(Object.getOwnPropertyNames(query), [])
    const found = readByDriver(query)
    t.same(found, { text, values: [1], name: 'one', rowMode }, 'also after the same statement in the other form')
  }
  t.end()
})

test('what the driver adds to a statement is not there when the statement comes again', (t) => {
  const statement = { text: 'select 2', name: 'two' } as const
  Object.assign(inheritingQuery(statement), { values: [1] })
  t.same(Object.keys(inheritingQuery(statement)), [])
  t.end()
})

test('a statement without a name has only the properties that say something', (t) => {
  for (const query of [{ text: 'select 3' }, { text: 'select 3', rowMode: 'array' }] as const) {
    t.strictSame(inheritingQuery({ ...query, name: undefined }), query)
    t.same(readByDriver(inheritingQuery(query)), { rowMode: undefined, ...query, values: [1], name: undefined })
  }
  t.end()
})
