import type { Kysely } from 'kysely'
import type { Dialect } from '../engines/dialect.js'
import type { Tables } from '../engines/executor.js'
import type { Shapes } from './shapes.js'

/** The database that statements are compiled for. */
export interface SqlContext {
  readonly db: Kysely<Tables>
  readonly dialect: Dialect
  /** Compiled statements by their shape, which clients choose: the least recently used ones go. */
  readonly shapes: Shapes
  /** True if the SQL function {@link deadlineFunction} exists, as on a database that openSqlite opened. */
  readonly hasDeadline: boolean
}
