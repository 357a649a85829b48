import type { Dialect, DialectName } from '../engines/dialect.js'
import { mariadbDialect } from '../engines/mariadb/dialect.js'
import { postgresDialect } from '../engines/postgres/dialect.js'
import { sqliteDialect } from '../engines/sqlite/dialect.js'

/** The engines. A row is all that a new one needs, beside a function that opens it. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  sqlite: sqliteDialect,
  postgres: postgresDialect,
  mariadb: mariadbDialect
}
