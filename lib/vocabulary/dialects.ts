import type { Dialect, DialectName } from './dialect.js'
import { mariadbDialect } from './mariadb-dialect.js'
import { postgresDialect } from './postgres-dialect.js'
import { sqliteDialect } from './sqlite-dialect.js'

export type { Dialect, DialectName, FailureKind } from './dialect.js'

/** The engines. A row is all that a new one needs, beside a function that opens it. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  sqlite: sqliteDialect,
  postgres: postgresDialect,
  mariadb: mariadbDialect
}
