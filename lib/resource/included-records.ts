import { LRUCache } from 'lru-cache'
import type { Dialect } from '../engines/dialect.js'
import type { Stored } from '../engines/storage.js'
import type { Column } from '../model/column.js'
import type { PlannedInclude } from '../plan/list-plan.js'
import { compileToIncluded } from '../response/included.js'
import type { ModelRecord } from '../response/record.js'
import { kIncluding, type Serialize } from '../response/serializer.js'
import type { ListBase } from '../sql/list-sql.js'
import { withIncludes } from '../sql/list-statement.js'

/**
 * Form of the rows and records of a resource for one choice of related records in the parameter `include`. All requests
 * with the same choice share it.
 */
export interface IncludingLayout {
  /** Table and columns of the list, related records included. */
  readonly base: ListBase
  /** Returns the record of a row whose values are in the order of the keys of `base`. */
  toRecord (row: readonly Stored[]): ModelRecord
}

/**
 * Most layouts that a resource keeps. Clients choose the related records, and each choice needs a layout of a few KiB,
 * so their number has a limit. One more drops the layout that was used least recently.
 */
const maxLayouts = 32

/** Makes the records of a resource that have related records in them. */
export class IncludedRecords {
  readonly #layouts: LRUCache<string, IncludingLayout, readonly PlannedInclude[]>

  /**
   * @param shown        columns of a record, in their order
   * @param serializers  those of {@link kIncluding}
   */
  constructor (
    base: ListBase, shown: readonly Column[], dialect: Dialect, serializers: ReadonlyMap<Serialize, Serialize>
  ) {
    this.#layouts = new LRUCache({
      max: maxLayouts,
      memoMethod: (_paths, _stale, { context: includes }) => {
        const toRecord = compileToIncluded(shown, includes, dialect)
        return {
          base: withIncludes(base, includes),
          toRecord: (row) => Object.assign(toRecord(row), { [kIncluding]: serializers })
        }
      }
    })
  }

  /**
   * Returns the layout for related records. The scopes of these records, which depend on the user, do not change the
   * layout.
   */
  layoutOf (includes: readonly PlannedInclude[]): IncludingLayout {
    let paths = ''
    for (const { path } of includes) paths += `${path} `
    return this.#layouts.memo(paths, { context: includes })
  }
}
