import type { Dialect } from '../engines/dialect.js'
import type { Column } from '../model/column.js'
import type { Limits } from './limits.js'
import type { Access } from './path.js'

/** What a list of a resource may ask for, fixed at setup. */
export interface ListScope {
  readonly access: Access
  /** What records show. */
  readonly columns: readonly Column[]
  readonly defaultLimit: number
  readonly maxLimit: number
  readonly limits: Limits
  readonly dialect: Dialect
}
