// @once: needs no database

import {
  CompiledQuery, DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler
} from 'kysely'
import { test } from 'tap'
import { handleOf, type Engine, type Handle } from '../../lib/database/engine.js'
import { findOversized } from '../../lib/database/find-fault.js'
import { writeAndRead } from '../../lib/database/transaction.js'
import { dialects } from '../../lib/database/dialects.js'
import type { DialectName } from '../../lib/engines/dialect.js'
import type { ArrayRows, Outcome, Query, Tables } from '../../lib/engines/executor.js'
import { isRead } from '../../lib/engines/retry.js'
import { StatementFailure } from '../../lib/engines/statement-failure.js'
import { requireFit, sessionSettings } from '../../lib/engines/mariadb/node-state.js'
import { defineModel, text, type Model } from '../../lib/index.js'
import type { Column } from '../../lib/model/column.js'

const run = async ({ executor }: Handle, query: CompiledQuery): Promise<Outcome> => await executor.execute(query)

const read = { ...CompiledQuery.raw('select 1'), query: { kind: 'SelectQueryNode' } } as CompiledQuery
const write = { ...CompiledQuery.raw('insert'), query: { kind: 'InsertQueryNode' } } as CompiledQuery
const found = { rows: [{ answer: 1 }], numAffectedRows: 1n }

/**
 * An engine whose connections and statements fail as told, one failure for each attempt, and then succeed. With
 * undefined, one succeeds.
 */
function failing (
  name: DialectName, { reaching = [], executing = [] }: { reaching?: unknown[], executing?: unknown[] }
) {
  const left = { reaching: [...reaching], executing: [...executing] }
  let attempts = 0
  const next = (failures: unknown[]): void => {
    const failure = failures.shift()
    if (failure !== undefined) throw failure
  }
  const executeQuery = async ({ sql }: CompiledQuery) => {
    if (!sql.startsWith('begin') && sql !== 'rollback') next(left.executing)
    return found
  }
  const connect = async <Result> (use: (connection: object) => Promise<Result>): Promise<Result> => {
    attempts++
    next(left.reaching)
    return await use({ executeQuery })
  }
  const db = { getExecutor: () => ({ provideConnection: connect }) } as unknown as Kysely<Tables>
  const dialect = { ...dialects[name], isEmbedded: false }
  const engine: Handle = handleOf(db, dialect)
  return { engine, attempts: () => attempts }
}

const failureOf = (properties: object): Error => Object.assign(new Error('secret'), properties)
const coded = (code: string): Error => failureOf({ code })
const numbered = (errno: number, code = 'ER'): Error => failureOf({ errno, code })
const unavailable = { code: 'REST_MODELS_UNAVAILABLE', statusCode: 503, headers: { 'retry-after': '1' } }
const unknown = { ...unavailable, code: 'REST_MODELS_OUTCOME_UNKNOWN' }

/**
 * Failures of statements on each engine: certainly not executed, perhaps executed, refused by a rule, impossible now.
 */
const failures: Record<DialectName, Record<'unexecuted' | 'lost' | 'unique' | 'reference' | 'constraint' | 'forbidden' |
  'oversized' | 'unavailable', readonly Error[]>> = {
    sqlite: {
      unexecuted: [coded('SQLITE_BUSY_SNAPSHOT'), coded('SQLITE_SCHEMA')],
      lost: [coded('SQLITE_IOERR'), coded('SQLITE_IOERR_FSYNC')],
      unique: [coded('SQLITE_CONSTRAINT_UNIQUE'), coded('SQLITE_CONSTRAINT_PRIMARYKEY')],
      reference: [coded('SQLITE_CONSTRAINT_FOREIGNKEY')],
      constraint: [
        coded('SQLITE_CONSTRAINT_CHECK'), coded('SQLITE_CONSTRAINT_TRIGGER'), coded('SQLITE_CONSTRAINT_NOTNULL'),
        coded('SQLITE_CONSTRAINT_DATATYPE'), coded('SQLITE_CONSTRAINT_COMMITHOOK'), coded('SQLITE_MISMATCH'),
        coded('SQLITE_ERROR_VALUE')
      ],
      forbidden: [],
      oversized: [coded('SQLITE_TOOBIG')],
      unavailable: [
        coded('SQLITE_BUSY'), coded('SQLITE_FULL'), coded('SQLITE_IOERR_WRITE'), coded('SQLITE_READONLY'),
        coded('SQLITE_CORRUPT_INDEX'), coded('SQLITE_NOTADB'), coded('SQLITE_PERM'), coded('SQLITE_NOMEM'),
        coded('SQLITE_INTERRUPT'), coded('SQLITE_PROTOCOL'), coded('SQLITE_READONLY_RECOVERY')
      ]
    },
    postgres: {
      unexecuted: [
        coded('40001'), coded('40P01'), coded('55P03'), coded('25006'), coded('26000'), coded('40000'),
        failureOf({ code: '0A000', routine: 'RevalidateCachedQuery' }), coded('72000'),
        coded('57P03'), coded('57P05'), coded('NOT_SENT')
      ],
      lost: [
        coded('57P01'), coded('57P02'), coded('08006'), coded('08007'), coded('40003'), coded('ECONNRESET'),
        coded('EPIPE'), failureOf({ code: 'EHOSTUNREACH', syscall: 'read' }), failureOf({}),
        failureOf({ code: '53100', severity: 'PANIC' }), failureOf({ code: '58030', severity: 'FATAL' }),
        failureOf({ code: '57014', severity: 'ANOTHER LANGUAGE' })
      ],
      unique: [coded('23505')],
      reference: [coded('23503'), coded('23001'), coded('22003')],
      constraint: [
        coded('23502'), coded('23514'), coded('22001'), coded('22012'), coded('22P02'), coded('44000'), coded('27000'),
        coded('40002'), coded('P0001'), coded('P0002'), coded('P0003'), coded('P0004'), coded('20000'), coded('21000'),
        failureOf({ code: 'MY001', routine: 'exec_stmt_raise' }),
        failureOf({ code: '42704', routine: 'get_ts_config_oid' })
      ],
      forbidden: [
        failureOf({ code: '42501', routine: 'ExecWithCheckOptions' }),
        failureOf({ code: '42501', routine: 'exec_stmt_raise' })
      ],
      oversized: [coded('54000'), coded('54001')],
      unavailable: [
        ...['57014', '53100', '53200', '58030', '57000'].map((code) => failureOf({ code, severity: 'ERROR' })),
        coded('XX001'), coded('25P03'), coded('25P04')
      ]
    },
    mariadb: {
      unexecuted: [
        numbered(1213), numbered(1205), numbered(1047), numbered(1290), numbered(1020), numbered(1615), numbered(1412),
        numbered(1792), coded('NOT_SENT')
      ],
      lost: [
        numbered(1053), numbered(1180), numbered(1927), failureOf({ fatal: true }),
        failureOf({ fatal: true, code: 'PROTOCOL_CONNECTION_LOST' }),
        failureOf({ fatal: true, errno: -104, code: 'ECONNRESET' })
      ],
      unique: [numbered(1062, 'ER_DUP_ENTRY')],
      reference: [numbered(1451), numbered(1452), numbered(1264), numbered(1366)],
      constraint: [
        numbered(1048), numbered(1364), numbered(1406), numbered(4025, 'ER_INNODB_AUTOEXTEND_SIZE_OUT_OF_RANGE'),
        numbered(1644), numbered(1365), numbered(1369), numbered(1690), numbered(1172), numbered(1242), numbered(1329),
        numbered(1339), numbered(1643), numbered(1441), numbered(4038), failureOf({ errno: 30001, sqlState: '45000' })
      ],
      forbidden: [],
      oversized: [numbered(1118), numbered(1153)],
      unavailable: [numbered(1969), numbered(1317), numbered(1021), numbered(1114), numbered(1030), numbered(1206)]
    }
  }

test('D-62: on PostgreSQL too many parameters are a fault, which is not repeated', async (t) => {
  const cause = failureOf({ code: '08P01', severity: 'ERROR', routine: 'exec_bind_message' })
  for (const query of [write, read]) {
    const { engine, attempts } = failing('postgres', { executing: [cause] })
    await t.rejects(run(engine, query), cause)
    t.equal(attempts(), 1)
  }
  const ofPooler = failing('postgres', { executing: [failureOf({ code: '08P01', severity: 'FATAL' })] })
  await t.rejects(run(ofPooler.engine, write), unknown, 'PgBouncer gives this code for a connection that it lost')
})

for (const [name, kinds] of Object.entries(failures) as Array<[DialectName, typeof failures[DialectName]]>) {
  test(`D-62: on ${name} what certainly was not executed is done again, the whole of it`, async (t) => {
    for (const failure of kinds.unexecuted) {
      const one = failing(name, { executing: [failure, failure] })
      t.same(await run(one.engine, write), { row: found.rows[0], changed: 1 })
      t.equal(one.attempts(), 3)
      const both = failing(name, { executing: [failure] })
      t.same(await writeAndRead(both.engine, { write, read: () => read }), { row: found.rows[0], changed: 1 })
      t.equal(both.attempts(), 2)
    }
  })

  test(`D-62: on ${name} a connection that could not be had is asked for again`, async (t) => {
    const { engine, attempts } = failing(name, { reaching: [coded('ECONNREFUSED'), failureOf({})] })
    t.same(await run(engine, write), { row: found.rows[0], changed: 1 })
    t.equal(attempts(), 3)
  })

  test(`D-62: on ${name} after five attempts it is 503 with Retry-After, and the cause is kept`, async (t) => {
    const cause = kinds.unexecuted[0]
    const { engine, attempts } = failing(name, { executing: Array(9).fill(cause) })
    await t.rejects(run(engine, write), { ...unavailable, cause })
    t.equal(attempts(), 5)
  })

  test(`D-62: on ${name} a write whose outcome is unknown is never repeated, a read is`, async (t) => {
    for (const cause of kinds.lost) {
      const one = failing(name, { executing: [cause] })
      await t.rejects(run(one.engine, write), { ...unknown, cause })
      t.equal(one.attempts(), 1)
      const again = failing(name, { executing: [cause] })
      await t.resolves(run(again.engine, read))
      t.equal(again.attempts(), 2)
    }
  })

  test(`D-232: on ${name} a lost connection leaves a commit unknown, and undoes what comes before one`, async (t) => {
    for (const cause of kinds.lost) {
      const before = failing(name, { executing: [cause] })
      await t.rejects(writeAndRead(before.engine, { write, read: () => read }), { ...unavailable, cause })
      const between = failing(name, { executing: [undefined, cause] })
      await t.rejects(writeAndRead(between.engine, { write, read: () => read }), { ...unavailable, cause })
      const atCommit = failing(name, { executing: [undefined, undefined, cause] })
      await t.rejects(writeAndRead(atCommit.engine, { write, read: () => read }), { ...unknown, cause })
      t.same([before, between, atCommit].map(({ attempts }) => attempts()), [1, 1, 1])
    }
    for (const cause of kinds.unavailable) {
      const { engine } = failing(name, { executing: [undefined, undefined, cause] })
      await t.rejects(writeAndRead(engine, { write, read: () => read }), { ...unavailable, cause })
    }
  })

  test(`D-62: on ${name} what the engine cannot do now is 503 at once`, async (t) => {
    for (const cause of kinds.unavailable) {
      const { engine, attempts } = failing(name, { executing: [cause] })
      await t.rejects(run(engine, write), { ...unavailable, cause })
      t.equal(attempts(), 1)
    }
  })

  test(`D-62: on ${name} what a rule refuses is told apart by code`, async (t) => {
    for (const kind of ['unique', 'reference', 'constraint', 'forbidden', 'oversized'] as const) {
      for (const cause of kinds[kind]) {
        const { engine, attempts } = failing(name, { executing: [cause] })
        const failure = await run(engine, write).catch((error: unknown) => error)
        t.ok(failure instanceof StatementFailure)
        const { code, errno } = cause as { readonly code?: string, readonly errno?: number }
        t.match(failure, {
          kind, cause: { ...(code !== undefined && { code }), ...(errno !== undefined && { errno }) }
        })
        t.equal(attempts(), 1)
      }
    }
  })

  test(`D-62: on ${name} anything else stays what it is`, async (t) => {
    for (const failure of [
      new TypeError('a bug'), coded('XX000'), numbered(9999), coded('42P01'), coded('SQLITE_ERROR'),
      failureOf({ code: '42501', routine: 'aclcheck_error' }), numbered(1142)
    ]) {
      const { engine, attempts } = failing(name, { executing: [failure] })
      t.equal(await run(engine, write).catch((error: unknown) => error), failure)
      t.equal(attempts(), 1)
      const later = failing(name, { executing: [kinds.unexecuted[0], failure] })
      t.equal(await run(later.engine, write).catch((error: unknown) => error), failure)
      t.equal(later.attempts(), 2)
    }
    const { engine } = failing(name, { executing: ['no error'] })
    t.equal(await run(engine, write).catch((error: unknown) => error), 'no error')
  })
}

/** The texts of failures that a server has sent, and whether they are logged. */
const texts: Record<Exclude<DialectName, 'sqlite'>, ReadonlyArray<readonly [
  isTold: boolean, text: string, properties: object
]>> = {
  postgres: [
    [true, 'relation "note" does not exist', { code: '42P01' }],
    [false, 'text search configuration "a value" does not exist', { code: '42704', routine: 'get_ts_config_oid' }],
    [true, 'syntax error at or near "from"', { code: '42601' }],
    [false, 'syntax error at or near "value"', { code: '42601', where: 'PL/pgSQL function f() line 1 at EXECUTE' }],
    [false, 'schema "value" does not exist', { code: '3F000', where: 'SQL function "f" statement 1' }],
    [true, 'null value in column "a" of relation "log"', { code: '23502', where: 'PL/pgSQL function f() line 1' }],
    [false, 'value', { code: '23502', routine: 'exec_stmt_raise' }],
    [false, 'invalid input syntax for type integer: "value"', { code: '22P02' }]
  ],
  mariadb: [
    [true, "Table 'site.note' doesn't exist", { errno: 1146, sqlState: '42S02' }],
    [true, "Unknown column 'a' in 'SELECT'", { errno: 1054, sqlState: '42S22' }],
    [true, "INSERT command denied to user 'u'@'localhost' for table `site`.`note`", { errno: 1142, sqlState: '42000' }],
    [true, 'SELECT, INSERT command denied to user \'u\'@\'h\' for table `site`.`note`', {
      errno: 1142, sqlState: '42000'
    }],
    [
      true,
      'Cannot add or update a child row: a foreign key constraint fails (`site`.`a`, ' +
        'CONSTRAINT `b` FOREIGN KEY (`c`, `d`) REFERENCES `e` (`f`, `g`) ON DELETE SET NULL ON UPDATE NO ACTION)',
      { errno: 1452, sqlState: '23000' }
    ],
    [true, 'FUNCTION site_2.nothing does not exist', { errno: 1305, sqlState: '42000' }],
    [true, 'CONSTRAINT `small` failed for `site`.`note`', { errno: 4025, sqlState: '23000' }],
    [true, "Column 'a' cannot be null", { errno: 1048, sqlState: '23000' }],
    [false, 'Cannot add or update a child row: a foreign key constraint fails (value)', {
      errno: 1452, sqlState: '23000'
    }],
    [false, "Unknown column 'a' in 'SELECT', value", { errno: 1054, sqlState: '42S22' }],
    [false, "Table 'value' doesn't exist", { errno: 1146, sqlState: '45000' }],
    [false, 'no value', { errno: 1146, sqlState: '42S02' }],
    [false, "Duplicate entry 'value' for key 'a'", { errno: 1062, sqlState: '23000' }]
  ]
}

for (const [name, rows] of Object.entries(texts) as Array<[keyof typeof texts, typeof texts['mariadb']]>) {
  test(`T-116: of failures of ${name} those texts are logged that the server itself makes of names`, (t) => {
    for (const [isTold, text, properties] of rows) {
      const { message } = dialects[name].toLoggable(Object.assign(
        new Error(text), { severity: 'ERROR', sqlMessage: text }, properties
      ))
      t.equal(message === text, isTold, text)
      if (!isTold) {
        t.match(message, /^The database failed with code \w+\. Its message is left out, because it may hold values$/)
      }
    }
    t.end()
  })
}

test('D-256: a connection that broke without a code of the driver has one of the plugin', async (t) => {
  const { engine } = failing('postgres', { executing: [new Error('Connection terminated unexpectedly')] })
  await t.rejects(run(engine, write), { ...unknown, cause: { code: 'CONNECTION_LOST' } })
})

test('a write that changed nothing is followed by no read', async (t) => {
  const sent: string[] = []
  const executeQuery = async ({ sql }: CompiledQuery) => {
    sent.push(sql)
    return { rows: [] }
  }
  const provideConnection = async <Result> (use: (connection: object) => Promise<Result>) => await use({ executeQuery })
  const db = { getExecutor: () => ({ provideConnection }) } as unknown as Kysely<Tables>
  t.same(
    await writeAndRead(handleOf(db, dialects.mariadb), { write, read: () => read }),
    { row: undefined, changed: 0 }
  )
  t.same(sent, ['begin', 'insert', 'commit'])
})

test('D-257: a Galera node serves nobody without the majority, and any node no writes that only reads', (t) => {
  t.throws(() => { requireFit({ isWritable: 1, isInCluster: 1, isReady: 0 }, false) }, {
    errno: 1047, code: 'WSREP_NOT_READY'
  })
  t.throws(() => { requireFit({ isWritable: 0, isInCluster: 0, isReady: 0 }, true) }, {
    errno: 1290, code: 'ER_OPTION_PREVENTS_STATEMENT'
  })
  t.doesNotThrow(() => { requireFit({ isWritable: 0, isInCluster: 1, isReady: 1 }, false) })
  t.end()
})

test('a statementTimeout of 0 leaves the limit of MariaDB as its settings say', (t) => {
  t.match(sessionSettings(undefined, 0), /, autocommit = 1, foreign_key_checks = 1,/, 'whatever the server has')
  t.match(sessionSettings(undefined, 1500), /, max_statement_time = 1\.5$/)
  t.notMatch(sessionSettings(undefined, 0), /max_statement_time/)
  t.end()
})

test('the columns of an index are asked for by a statement that may be repeated', async (t) => {
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler()
    }
  })
  const asked: Query[] = []
  const readArrays = async (query: Query): Promise<ArrayRows> => {
    asked.push(query)
    return [['title']]
  }
  const engine = { ...handleOf(db, dialects.postgres), executor: { readArrays } } as unknown as Engine
  const { columns: [, title] } = defineModel('Note', { title: text() })
  const failure = new StatementFailure('oversized', Object.assign(new Error('long'), { constraint: 'note__title' }))
  const known = new Set<Column>([title!])
  const write = { model: {} as Model, known, references: [], values: new Map([[title!, 'x']]) }
  t.equal(await findOversized(engine, { ...write, failure }), title)
  t.same(asked.map(isRead), [true])
})
