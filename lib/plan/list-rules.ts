import type { Dialect } from '../engines/dialect.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import type { Limits } from './limits.js'
import type { PlannedOrder } from './list-plan.js'
import type { Access } from './path.js'
import type { IncludeRules } from './permitted-includes.js'

/** Columns and limits of the lists of a resource, fixed at setup. */
export interface ListRules extends Access, IncludeRules {
  readonly model: Model
  /** Columns that records show. */
  readonly visible: readonly Column[]
  /** Text columns of the option `search`; none if the resource has no such option. */
  readonly searched: readonly Column[]
  /**
   * Ordering by the columns of the primary key, ascending. A list has this ordering if the client asks for none. If the
   * client asks for an ordering that does not name all columns of the key, the missing ones are added at its end.
   */
  readonly keyOrdering: readonly PlannedOrder[]
  readonly defaultLimit: number
  readonly maxLimit: number
  readonly limits: Limits
  readonly reader: { readonly dialect: Dialect }
}
