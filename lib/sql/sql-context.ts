import type { Kysely } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Tables } from '../engines/executor.js'
import type { Shapes } from './shapes.js'

/** The database for which statements are compiled. */
export interface SqlContext {
  readonly db: Kysely<Tables>
  readonly dialect: Dialect
  /** Cache of the statements that were compiled for this database. */
  readonly shapes: Shapes
}
