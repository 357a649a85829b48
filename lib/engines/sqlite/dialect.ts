import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { propertyOf, withoutValues, type Dialect } from '../dialect.js'
import type { WrittenColumn } from '../storage.js'
import { sqliteCatalog } from './catalog.js'
import { foreignIndex } from './moments.js'
import { sqlitePlans } from './plans.js'
import { sqliteStorage } from './storage.js'

/** GLOB is SQLite's case-sensitive LIKE: `*` and `?` are its wildcards, and `[…]` is how they are escaped. */
function globOf (pattern: string): string {
  return pattern.replace(/\\(.)|[%_*?[]/gsu, (token, escaped?: string) =>
    token === '%' ? '*' : token === '_' ? '?' : (escaped ?? token).replace(/[*?[]/, '[$&]'))
}

/** What SQLite's patterns take for one character. */
const ambiguous = /[\ufffd-\uffff]/

/** A text in which those three differ: two of them become characters beyond Unicode, which no text has, but which patterns know. */
function toldApart (text: Expression<unknown>): RawBuilder<unknown> {
  return sql`replace(replace(${text}, char(65534), cast(x'f4908080' as text)), char(65535), cast(x'f4908081' as text))`
}

type Match = (text: Expression<unknown>, pattern: Expression<unknown>) => RawBuilder<SqlBool>

/** A match by a pattern, which is looked at again if the pattern is ambiguous. */
const matching = (match: Match): Dialect['like'] => (column, pattern, isAmbiguous = false) => {
  const wanted = sql`${pattern}`
  const matches = match(column, wanted)
  return isAmbiguous ? sql<SqlBool>`(${matches} and ${match(toldApart(column), toldApart(wanted))})` : matches
}

/** `A_B_C`, `A_B`, `A`: SQLite's extended codes begin with the primary one. */
function prefixesOf (code: string): readonly string[] {
  const parts = code.split('_')
  return parts.map((_part, index) => parts.slice(0, parts.length - index).join('_'))
}

const written = sql<WrittenColumn>`
  select l.name as "table", c.name, c.type as written, exists (
    select 1 from pragma_index_list(l.name) i where i.name = l.name || '__' || c.name || ${sql.lit(`__${foreignIndex}`)}) as indexed
  from pragma_table_list l join pragma_table_info(l.name) c where l.schema = 'main'`

export const sqliteDialect: Dialect = {
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
  like: matching((text, wanted) => sql<SqlBool>`${text} glob ${wanted}`),
  ilike: matching((text, wanted) => sql<SqlBool>`lower(${text}) like lower(${wanted}) escape '\\'`),
  nullsFirst: { ascending: sql`asc`, descending: sql`desc` },
  // SQLite looks at a mere parameter when it plans, and prepares the statement anew whenever that is bound. Here the value
  // says nothing; of other columns it may say that a partial index serves, or how many rows there are.
  identifying: (value) => sql`+${value}`,
  // SQLite takes 100 bytes for each of many parameters, and the driver gives them back only at a garbage collection.
  listed: (array) => sql`(select value from json_each(${array}))`,
  limit: (count) => sql<number>`cast(${count} as integer)`,
  length: (column) => sql`length(${column})`,
  returnsUpdates: true,
  // A transaction that reads first cannot wait for another that writes.
  schema: { generatedKey: 'integer primary key autoincrement', needsTargets: false, begin: sql`begin immediate`, keys: sqliteCatalog.columns, written },
  codesOf: (failure) => prefixesOf(propertyOf(failure, 'code')),
  // https://www.sqlite.org/rescode.html. ERROR, MISUSE, RANGE, AUTH, INTERNAL, … are faults of the deployer or of this program.
  failures: {
    SQLITE_CONSTRAINT_UNIQUE: 'unique',
    SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
    SQLITE_CONSTRAINT_ROWID: 'unique',
    SQLITE_CONSTRAINT_FOREIGNKEY: 'reference',
    SQLITE_CONSTRAINT: 'constraint',
    // What is no integer, for a key that is one.
    SQLITE_MISMATCH: 'constraint',
    SQLITE_TOOBIG: 'oversized',
    SQLITE_BUSY_SNAPSHOT: 'unexecuted',
    // Others altered the tables again and again.
    SQLITE_SCHEMA: 'unexecuted',
    // Whoever waited for the lock has done so already.
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
    SQLITE_IOERR: 'unavailable',
    SQLITE_NOLFS: 'unavailable',
    SQLITE_CORRUPT: 'unavailable',
    SQLITE_NOTADB: 'unavailable',
    SQLITE_DEADLINE: 'unavailable'
  },
  // A trigger's words are those of whoever made it, and newer versions make them of values. All others hold names alone.
  discreet: (failure) => propertyOf(failure, 'code') === 'SQLITE_CONSTRAINT_TRIGGER' ? withoutValues(failure, false, ['code']) : failure,
  hasFunction: (name) => sql`select count(*) as answer from pragma_function_list where name = ${name}`,
  requirements: [{
    query: sql`select foreign_keys as answer from pragma_foreign_keys`,
    remedy: 'SQLite does not enforce foreign keys on this connection: ' +
      "run 'pragma foreign_keys = on' when it is opened, or use openSqlite"
  }]
}
