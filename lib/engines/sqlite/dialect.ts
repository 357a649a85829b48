import { CompiledQuery, sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect } from '../dialect.js'
import { propertyOf, withoutValues } from '../failure-properties.js'
import { sqliteCatalog, sqliteColumnsOf } from './catalog.js'
import { sqliteDeadline } from './deadline.js'
import { sqlitePlans } from './plans.js'
import { sqliteStorage } from './storage.js'
import { valueFailureCode } from './value-failure.js'

/**
 * Converts a pattern of LIKE to one of GLOB, SQLite's case-sensitive LIKE. Characters that are special in GLOB are
 * escaped: `[*]`, `[?]`, `[[]`.
 */
function globOf (pattern: string): string {
  return pattern.replace(/\\(.)|[%_*?[]/gsu, (token, escaped?: string) =>
    token === '%' ? '*' : token === '_' ? '?' : (escaped ?? token).replace(/[*?[]/, '[$&]'))
}

/** Characters that SQLite's patterns do not tell apart: U+FFFD, U+FFFE and U+FFFF. */
const ambiguous = /[\ufffd-\uffff]/

/**
 * Returns SQL of a text in which patterns tell U+FFFD, U+FFFE and U+FFFF apart. The SQL replaces the last two by
 * characters beyond Unicode, which no text has, and which patterns tell apart.
 */
function toldApart (text: Expression<unknown>): RawBuilder<unknown> {
  return sql`replace(replace(${text}, char(65534), cast(x'f4908080' as text)), char(65535), cast(x'f4908081' as text))`
}

/**
 * Hides a value from the planner. Without this, SQLite would plan by the value of the parameter, and prepare the
 * statement anew whenever another value is bound.
 */
function withoutPlan (value: unknown): RawBuilder<unknown> {
  return sql`+${value}`
}

type Match = (text: Expression<unknown>, pattern: Expression<unknown>) => RawBuilder<SqlBool>

/**
 * Returns the function `like` or `ilike` of the dialect. `match` makes the SQL that matches a text with a pattern. If
 * the pattern has characters that {@link ambiguous} finds, a second match tells these characters apart.
 */
const matching = (match: Match): Dialect['like'] => (column, pattern, { isAmbiguous, hasLeadingWildcard } = {}) => {
  const wanted = hasLeadingWildcard === true ? withoutPlan(pattern) : sql`${pattern}`
  const matches = match(column, wanted)
  return isAmbiguous === true ? sql<SqlBool>`(${matches} and ${match(toldApart(column), toldApart(wanted))})` : matches
}

/** Returns `A_B_C`, `A_B` and `A` for the code `A_B_C`, because SQLite's extended codes begin with the primary one. */
function prefixesOf (code: string): readonly string[] {
  const parts = code.split('_')
  return parts.map((_part, index) => parts.slice(0, parts.length - index).join('_'))
}

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  adapter: 'SqliteAdapter',
  storage: sqliteStorage,
  isEmbedded: true,
  catalog: sqliteCatalog,
  plans: sqlitePlans,
  foldName: (name) => name.toLowerCase(),
  exact: (column) => sql`${column} collate binary`,
  seeksByCollation: false,
  likePattern: globOf,
  ambiguous,
  leadingWildcard: /^[*?[]/,
  like: matching((text, wanted) => sql<SqlBool>`${text} glob ${wanted}`),
  ilike: matching((text, wanted) => sql<SqlBool>`lower(${text}) like lower(${wanted}) escape '\\'`),
  nullsFirst: { ascending: sql`asc`, descending: sql`desc` },
  // SQLite's planner gains nothing from the value of a unique column. Values of other columns may show that a partial
  // index serves, or how many rows there are.
  identifying: withoutPlan,
  // SQLite takes 100 bytes for each of many parameters, and the driver frees them only at a garbage collection.
  listed: (array) => sql`(select value from json_each(${array}))`,
  limit: (count) => sql<number>`cast(${count} as integer)`,
  length: (column) => sql`length(${column})`,
  quoted: /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?\*\//g,
  // A transaction that reads first cannot wait for another one that writes.
  begin: CompiledQuery.raw('begin immediate'),
  locksRows: false,
  emptyRow: sql`default values`,
  subqueriesLockRows: false,
  returnsUpdates: true,
  schema: {
    generatedKey: 'integer primary key autoincrement',
    needsTargets: false,
    altersByColumn: true,
    // SQLite 3.54 refuses these names of the hidden row id: https://www.sqlite.org/rowidtable.html.
    onlyCreatedNames: ['rowid', 'oid', '_rowid_'],
    unchecked: { begin: sql`pragma foreign_keys = off`, end: sql`pragma foreign_keys = on` },
    begin: sql`begin immediate`,
    keysMayBeNull: true,
    columnsOf: sqliteColumnsOf
  },
  codesOf: (failure) => prefixesOf(propertyOf(failure, 'code')),
  // https://www.sqlite.org/rescode.html. The codes left out, such as ERROR, MISUSE, RANGE, AUTH and INTERNAL, are
  // faults of the deployer or of this program.
  failures: {
    SQLITE_CONSTRAINT_UNIQUE: 'unique',
    SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
    SQLITE_CONSTRAINT_ROWID: 'unique',
    SQLITE_CONSTRAINT_FOREIGNKEY: 'reference',
    SQLITE_CONSTRAINT: 'constraint',
    // A key that must be an integer, and is none.
    SQLITE_MISMATCH: 'constraint',
    [valueFailureCode]: 'constraint',
    SQLITE_TOOBIG: 'oversized',
    SQLITE_BUSY_SNAPSHOT: 'unexecuted',
    // Other connections altered the tables again and again.
    SQLITE_SCHEMA: 'unexecuted',
    // A commit that was written but not made durable is undone here, but a crash may bring it back from the write-ahead
    // log. If writing or reading failed, there is no commit.
    SQLITE_IOERR: 'lost',
    SQLITE_IOERR_WRITE: 'unavailable',
    SQLITE_IOERR_READ: 'unavailable',
    SQLITE_IOERR_SHORT_READ: 'unavailable',
    // The statement has waited for the lock already, so it is not repeated.
    SQLITE_BUSY: 'unavailable',
    SQLITE_LOCKED: 'unavailable',
    SQLITE_PROTOCOL: 'unavailable',
    SQLITE_ABORT: 'unavailable',
    SQLITE_INTERRUPT: 'unavailable',
    SQLITE_NOMEM: 'unavailable',
    SQLITE_FULL: 'unavailable',
    SQLITE_READONLY: 'unavailable',
    SQLITE_PERM: 'unavailable',
    SQLITE_CANTOPEN: 'unavailable',
    SQLITE_NOLFS: 'unavailable',
    SQLITE_CORRUPT: 'unavailable',
    SQLITE_NOTADB: 'unavailable',
    SQLITE_DEADLINE: 'unavailable'
  },
  // The author of a trigger chooses its words, and newer versions of SQLite build them from values. The words about a
  // value may quote it. All other failures hold only names.
  toLoggable: (failure) => {
    const code = propertyOf(failure, 'code')
    const mayTell = code === 'SQLITE_CONSTRAINT_TRIGGER' || (code === valueFailureCode && failure.message.includes("'"))
    return mayTell ? withoutValues(failure, false, ['code']) : failure
  },
  listDeadline: sqliteDeadline,
  requirements: [{
    query: sql`select foreign_keys as answer from pragma_foreign_keys`,
    remedy: 'SQLite does not enforce foreign keys on this connection: ' +
      "run 'pragma foreign_keys = on' when it is opened, or use openSqlite"
  }, {
    // In UTF-16, SQLite orders and compares texts by other bytes than the statements and cursors here assume.
    query: sql`select encoding = 'UTF-8' as answer from pragma_encoding`,
    remedy: 'SQLite keeps the texts of this file in UTF-16, in which it orders and compares them in another way. ' +
      "Nothing changes the encoding of a file: copy it into a new one, by 'sqlite3 old.db .dump | sqlite3 new.db'"
  }]
}
