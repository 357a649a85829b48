import { CompiledQuery, sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Dialect } from '../dialect.js'
import { mariadbCatalog } from './catalog.js'
import { mariadbFailures } from './failures.js'
import { mariadbPlans } from './plans.js'
import { foreignMariadbStorage, mariadbStorage } from './storage.js'
import { exactCollation } from './texts.js'

/**
 * Returns SQL of a text that is compared exactly, by case, accents and trailing spaces. The text is converted to
 * utf8mb4 first, because a collation fits only one character set.
 */
const exact = (text: RawBuilder<unknown>) => sql`convert(${text} using utf8mb4) collate utf8mb4_nopad_bin`

/**
 * Match the beginning of statements before which MariaDB commits, or that may contain any other statement. Temporary
 * tables commit nothing. A statement that switches `autocommit` on again commits, too.
 *
 * @see https://mariadb.com/kb/en/sql-statements-that-cause-an-implicit-commit/
 */
const committing = [
  /^(?:alter|create|drop)\b(?!(?:\s+or\s+replace)?\s+temporary\b)/i,
  /^(?:analyze|cache|change|check|flush|grant|install|load\s+index|lock|optimize|rename|repair|reset)\b/i,
  /^(?:revoke|set\s+password|shutdown|stop|truncate|uninstall|unlock)\b/i,
  /^(?:case|execute\s+immediate|for|if|loop|prepare|repeat|while)\b/i,
  /^set\b[^;]*\bautocommit`?\s*:?=/i
]

export const mariadbDialect: Dialect = {
  name: 'mariadb',
  adapter: 'MysqlAdapter',
  storage: foreignMariadbStorage,
  ownStorage: mariadbStorage,
  isEmbedded: false,
  catalog: mariadbCatalog,
  plans: mariadbPlans,
  foldName: (name) => name.toLowerCase(),
  exact,
  seeksByCollation: true,
  likePattern: (pattern) => pattern,
  like: (column, pattern) => sql<SqlBool>`${exact(column)} like ${pattern}`,
  ilike: (column, pattern) => sql<SqlBool>`lower(${exact(column)}) like lower(${pattern})`,
  nullsFirst: { ascending: sql`asc`, descending: sql`desc` },
  identifying: (value) => sql`${value}`,
  limit: (count) => sql<number>`${count}`,
  length: (column) => sql`char_length(${column})`,
  quoted: /'(?:[^'\\]|''|\\[^])*'|"(?:[^"\\]|""|\\[^])*"|`(?:[^`]|``)*`|(?:--(?=\s)|#)[^\n]*|\/\*(?!M?!)[^]*?\*\//g,
  committing,
  begin: CompiledQuery.raw('begin'),
  locksRows: true,
  emptyRow: sql`() values ()`,
  subqueriesLockRows: true,
  returnsUpdates: false,
  schema: {
    generatedKey: 'bigint auto_increment primary key',
    tableOptions: `engine = innodb default character set utf8mb4 collate ${exactCollation}`,
    needsTargets: true,
    namesTableOfIndex: true,
    // Version 10.11 drops nothing, and says nothing, by 'drop constraint' if the table has a unique index by hash.
    dropReference: (table, name) => sql`alter table ${table} drop foreign key ${name}`,
    lock: {
      acquire: sql`select get_lock(concat('rest_models_', database()), 1) as answer`,
      release: sql`select release_lock(concat('rest_models_', database()))`
    },
    drop: (table) => sql`set statement foreign_key_checks = 0, max_statement_time = 0 for drop table ${table}`,
    foldsTables: sql`select @@lower_case_table_names as answer`
  },
  ...mariadbFailures,
  // The query asks in winter and in summer, because a zone such as that of Greenwich is UTC only in winter.
  requiredBy: {
    timestamp: {
      query: sql`
        select from_unixtime(1704067200) = '2024-01-01 00:00:00'
          and from_unixtime(1719792000) = '2024-07-01 00:00:00' as answer`,
      remedy: "The connection reads and writes columns of type 'timestamp' in another time zone than UTC: " +
        "its time_zone must be '+00:00'; use openMariadb, or set it when connecting"
    }
  },
  requirements: [
    {
      query: sql`select version() like '%MariaDB%' as answer`,
      remedy: 'The server is not MariaDB. MySQL is not supported, because its INSERT returns no rows'
    },
    {
      query: sql`
        select (substring_index(version(), '.', 1) + 0,
          substring_index(substring_index(version(), '.', 2), '.', -1) + 0) >= (10, 11) as answer`,
      remedy: 'The server is older than MariaDB 10.11'
    },
    {
      query: sql`select @@sql_mode like '%STRICT%TABLES%' as answer`,
      remedy: "The connection's sql_mode must contain STRICT_TRANS_TABLES, because MariaDB otherwise cuts long texts " +
        'without an error. Use openMariadb, or set it when connecting'
    },
    {
      query: sql`
        select @@sql_mode not regexp 'NO_BACKSLASH|EMPTY_STRING|PAD_CHAR|ORACLE|ANSI_QUOTES|NO_ZERO_IN_DATE' as answer`,
      remedy: "The connection's sql_mode must not contain NO_BACKSLASH_ESCAPES, EMPTY_STRING_IS_NULL, which stores " +
        'null for an empty text, PAD_CHAR_TO_FULL_LENGTH, which adds blanks to texts of type char, ORACLE, in which ' +
        'no transaction begins, ANSI_QUOTES, which changes how MariaDB describes its tables, or NO_ZERO_IN_DATE, ' +
        'which loses the place of dates such as 2024-00-00 in a list. Use openMariadb, or set it when connecting'
    },
    {
      query: sql`select @@autocommit as answer`,
      remedy: 'MariaDB commits no write of this connection by itself: set autocommit to 1 when connecting, ' +
        'or use openMariadb'
    },
    {
      query: sql`select @@foreign_key_checks as answer`,
      remedy: 'MariaDB does not enforce foreign keys on this connection: set foreign_key_checks to 1 when ' +
        'connecting, or use openMariadb'
    },
    {
      query: sql`select @@character_set_client = 'utf8mb4' and @@character_set_connection = 'utf8mb4' as answer`,
      remedy: "The connection cannot transmit every text: its character set must be 'utf8mb4'"
    }
  ]
}
