import type { Random } from '../../benchmarks/random.js'
import { medianOf } from '../../benchmarks/statistics.js'

export interface Comparison {
  /** Of the medians, the second less the first. */
  readonly difference: number
  /** How often a difference at least as large would be seen if both were the same thing. */
  readonly p: number
}

const permutations = 5000

/**
 * A two-sided permutation test of the difference of two medians, which asks nothing of how the values are distributed.
 */
export function comparePermuted (first: readonly number[], second: readonly number[], random: Random): Comparison {
  const difference = medianOf(second) - medianOf(first)
  const all = [...first, ...second]
  let extreme = 0
  for (let count = 0; count < permutations; count++) {
    shuffle(all, random)
    const found = medianOf(all.slice(first.length)) - medianOf(all.slice(0, first.length))
    if (Math.abs(found) >= Math.abs(difference)) extreme++
  }
  return { difference, p: (extreme + 1) / (permutations + 1) }
}

/** In place, each order as likely as the others (Fisher and Yates). */
export function shuffle<Item> (items: Item[], random: Random): Item[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random(last + 1)
    const held = items[last] as Item
    items[last] = items[other] as Item
    items[other] = held
  }
  return items
}
