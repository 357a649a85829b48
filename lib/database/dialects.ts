import type { Dialect, DialectName } from '../engines/dialect.js'
import { mariadbDialect } from '../engines/mariadb/dialect.js'
import { postgresDialect } from '../engines/postgres/dialect.js'
import { sqliteDialect } from '../engines/sqlite/dialect.js'

/** Dialects of all engines. A new engine needs a row here and a function that opens it. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  sqlite: sqliteDialect,
  postgres: postgresDialect,
  mariadb: mariadbDialect
}
