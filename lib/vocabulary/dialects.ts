import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** What went wrong in an engine, in terms of what the client is told. */
export type FailureKind = 'unique' | 'reference' | 'constraint' | 'unavailable'

/** What an engine does in its own way, beyond what Kysely settles. */
export interface Dialect {
  readonly name: DialectName
  /** Name of Kysely's adapter class: it is the same for every copy of Kysely and every subclass of a dialect. */
  readonly adapter: string
  /** The same for two names of tables or columns that the engine does not tell apart. */
  foldName (name: string): string
  /** A text column compared character by character, whatever its collation. */
  exact (column: RawBuilder<unknown>): RawBuilder<unknown>
  /** Whole-value pattern with `%`, `_` and backslash escapes; case-sensitive. */
  like (column: RawBuilder<unknown>, pattern: string): RawBuilder<SqlBool>
  /** The same, ignoring the case of ASCII letters at least. */
  ilike (column: RawBuilder<unknown>, pattern: string): RawBuilder<SqlBool>
  /** Failures that are told apart, by the driver's error code; `A_B` stands for every `A_B_C` that has no row. */
  readonly failures: Readonly<Record<string, FailureKind>>
  /** A query that counts the SQL functions of a name. */
  hasFunction (name: string): RawBuilder<unknown>
  /** What must hold on a connection: a query whose answer must be 1, and the remedy if it is not. */
  readonly requirement: { readonly query: RawBuilder<unknown>, readonly remedy: string }
}

export type DialectName = 'sqlite'

/** GLOB is SQLite's case-sensitive LIKE: `*` and `?` are its wildcards, and `[…]` is how they are escaped. */
function globOf (pattern: string): string {
  return pattern.replace(/\\(.)|[%_*?[]/gsu, (token, escaped?: string) =>
    token === '%' ? '*' : token === '_' ? '?' : (escaped ?? token).replace(/[*?[]/, '[$&]'))
}

export const dialects = {
  sqlite: {
    name: 'sqlite',
    adapter: 'SqliteAdapter',
    foldName: (name) => name.toLowerCase(),
    exact: (column) => sql`${column} collate binary`,
    like: (column, pattern) => sql<SqlBool>`${column} glob ${globOf(pattern)}`,
    ilike: (column, pattern) => sql<SqlBool>`lower(${column}) like lower(${pattern}) escape '\\'`,
    failures: {
      SQLITE_CONSTRAINT_UNIQUE: 'unique',
      SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
      SQLITE_CONSTRAINT_FOREIGNKEY: 'reference',
      SQLITE_CONSTRAINT: 'constraint',
      SQLITE_BUSY: 'unavailable',
      SQLITE_LOCKED: 'unavailable',
      SQLITE_FULL: 'unavailable',
      SQLITE_READONLY: 'unavailable',
      SQLITE_CANTOPEN: 'unavailable',
      SQLITE_IOERR: 'unavailable',
      SQLITE_DEADLINE: 'unavailable'
    },
    hasFunction: (name) => sql`select count(*) as answer from pragma_function_list where name = ${name}`,
    requirement: {
      query: sql`select foreign_keys as answer from pragma_foreign_keys`,
      remedy: 'SQLite does not enforce foreign keys on this connection: ' +
        "run 'pragma foreign_keys = on' when it is opened, or use openSqlite"
    }
  }
} as const satisfies Record<DialectName, Dialect>
