import type { Column } from '../../model/column.js'
import type { ListPlan } from '../../plan/list-plan.js'
import type { Resource } from '../../resource/resource.js'
import { isLookedUp } from './explain.js'

/**
 * Asks the database whether an index finds the records that a foreign key refers to. Asks about each key once, because
 * the answer is the same for all resources that lead to it.
 */
export class KeyLookups {
  /** The answers by the foreign key, for each database. */
  readonly #answers = new WeakMap<object, Map<Column, boolean>>()

  /** Returns the answer about a foreign key, which is the last `include` of a list of a resource. */
  async isServed (resource: Resource, plan: ListPlan, column: Column): Promise<boolean> {
    const { reader: { db } } = resource
    const answers = this.#answers.get(db) ?? new Map<Column, boolean>()
    this.#answers.set(db, answers)
    const isServed = answers.get(column) ?? await isLookedUp(resource, plan)
    answers.set(column, isServed)
    return isServed
  }
}
