/** A whole number from 0 up to, but not including, a limit. */
export type Random = (limit: number) => number

/** Numbers that look random and are the same in every run (mulberry32). */
export function seeded (seed: number): Random {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * limit)
  }
}
