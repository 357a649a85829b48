import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { propertyOf, type Dialect } from './dialect.js'
import { mariadbCatalog } from './mariadb-catalog.js'
import { mariadbPlans } from './mariadb-plans.js'
import { mariadbStorage } from './mariadb-storage.js'

/** Converted first, since a collation fits one character set only. */
const exact = (text: RawBuilder<unknown>) => sql`convert(${text} using utf8mb4) collate utf8mb4_nopad_bin`

/** What the driver throws when a connection breaks, whatever the reason. */
const fatal = 'fatal'

/** By number: the driver's names for the numbers of MariaDB are those of MySQL, and partly wrong. */
function codesOf (failure: Error): readonly string[] {
  const number = Number(propertyOf(failure, 'errno'))
  return [number > 0 ? String(number) : '', propertyOf(failure, 'code'), propertyOf(failure, 'fatal') === 'true' ? fatal : '']
}

export const mariadbDialect: Dialect = {
  adapter: 'MysqlAdapter',
  storage: mariadbStorage,
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
  returnsUpdates: false,
  schema: {
    generatedKey: 'bigint auto_increment primary key',
    tableOptions: 'engine = innodb default character set utf8mb4 collate utf8mb4_nopad_bin',
    needsTargets: true,
    lock: {
      acquire: sql`select get_lock(concat('rest_models_', database()), 1) as answer`,
      release: sql`select release_lock(concat('rest_models_', database()))`
    },
    drop: (table) => sql`set statement foreign_key_checks = 0, max_statement_time = 0 for drop table ${table}`,
    written: sql`
      select table_name as \`table\`, column_name as name, column_type as written
      from information_schema.columns where table_schema = database() and data_type in ('datetime', 'timestamp')`,
    foldsTables: sql`select @@lower_case_table_names as answer`
  },
  codesOf,
  // https://mariadb.com/kb/en/mariadb-error-codes/: all that reading and writing may give. What is left out is a fault of the
  // deployer (a missing privilege: 1044 1142 1143; tables, columns, functions: 1054 1146 1305) or of this program (1064 1390).
  failures: {
    1022: 'unique',
    1062: 'unique',
    1169: 'unique',
    1586: 'unique',
    1859: 'unique',
    // The first two to whoever may not look at the other table.
    1216: 'reference',
    1217: 'reference',
    1451: 'reference',
    1452: 'reference',
    1264: 'reference',
    1048: 'constraint',
    1263: 'constraint',
    1364: 'constraint',
    1423: 'constraint',
    1366: 'constraint',
    1292: 'constraint',
    1411: 'constraint',
    1265: 'constraint',
    1406: 'constraint',
    4025: 'constraint',
    // What a column that is computed, or a trigger makes of a value: division by zero, out of range.
    1365: 'constraint',
    1690: 'constraint',
    // The condition of a view, and a value for which there is no partition.
    1369: 'constraint',
    1526: 'constraint',
    // A statement that a trigger refuses by SIGNAL.
    1644: 'constraint',
    // A chain of cascades that is too deep for InnoDB, or that would make a duplicate.
    1296: 'constraint',
    1557: 'constraint',
    1761: 'constraint',
    1762: 'constraint',
    // A row, a packet.
    1118: 'oversized',
    1153: 'oversized',
    // Illegal mix of collations: of two, three, more.
    1267: 'incomparable',
    1270: 'incomparable',
    1271: 'incomparable',
    // Deadlock or lost certification, lock wait, changed since the snapshot, aborted: rolled back.
    1213: 'unexecuted',
    1205: 'unexecuted',
    1020: 'unexecuted',
    1297: 'unexecuted',
    1637: 'unexecuted',
    1689: 'unexecuted',
    // The table was altered: the statement has to be prepared anew, or the transaction begun.
    1615: 'unexecuted',
    1412: 'unexecuted',
    // A node that is not ready, has no room for a connection, is locked for a backup, or only reads.
    1040: 'unexecuted',
    1047: 'unexecuted',
    1223: 'unexecuted',
    1290: 'unexecuted',
    1792: 'unexecuted',
    1836: 'unexecuted',
    1053: 'lost',
    1158: 'lost',
    1159: 'lost',
    1160: 'lost',
    1161: 'lost',
    1180: 'lost',
    1184: 'lost',
    1927: 'lost',
    1969: 'unavailable',
    1317: 'unavailable',
    // No room, no memory, no locks, no connections for this user.
    1021: 'unavailable',
    1037: 'unavailable',
    1038: 'unavailable',
    1041: 'unavailable',
    1114: 'unavailable',
    1203: 'unavailable',
    1206: 'unavailable',
    1226: 'unavailable',
    // Files that cannot be read or written, are damaged, or read-only.
    1016: 'unavailable',
    1024: 'unavailable',
    1026: 'unavailable',
    1030: 'unavailable',
    1034: 'unavailable',
    1036: 'unavailable',
    1194: 'unavailable',
    1195: 'unavailable',
    1874: 'unavailable',
    [fatal]: 'lost'
  },
  // In winter and in summer: a time zone may be that of Greenwich, and no more than that.
  requiredBy: {
    timestamp: {
      query: sql`select from_unixtime(1704067200) = '2024-01-01 00:00:00' and from_unixtime(1719792000) = '2024-07-01 00:00:00' as answer`,
      remedy: "The connection reads and writes columns of type 'timestamp' in another time zone than UTC: its time_zone must be '+00:00'; use openMariadb, or set it when connecting"
    }
  },
  requirements: [
    {
      query: sql`select version() like '%MariaDB%' as answer`,
      remedy: 'The server is not MariaDB; MySQL cannot return what it inserted'
    },
    {
      query: sql`select (substring_index(version(), '.', 1) + 0, substring_index(substring_index(version(), '.', 2), '.', -1) + 0) >= (10, 11) as answer`,
      remedy: 'The server is older than MariaDB 10.11'
    },
    {
      query: sql`select @@sql_mode like '%STRICT%TABLES%' and @@sql_mode not like '%NO%BACKSLASH%ESCAPES%' as answer`,
      remedy: "The connection's sql_mode must contain STRICT_TRANS_TABLES, or texts are cut in silence, and not NO_BACKSLASH_ESCAPES; use openMariadb, or set it when connecting"
    },
    {
      query: sql`select @@character_set_client = 'utf8mb4' and @@character_set_connection = 'utf8mb4' as answer`,
      remedy: "The connection cannot transmit every text: its character set must be 'utf8mb4'"
    }
  ]
}
