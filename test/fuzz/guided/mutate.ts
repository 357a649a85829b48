import type { Random } from '../../../benchmarks/random.js'

/** An input with one to five changes: bytes of it and of another one, words, and what lies at the edges. */
export function mutate (random: Random, [input, other]: readonly [string, string], words: readonly string[]): string {
  let changed = input
  for (let left = 1 + random(5); left > 0; left--) {
    changed = mutations[random(mutations.length)]?.({ random, input: changed, other, words }) ?? changed
  }
  return changed.slice(0, longest)
}

const longest = 600

interface Given {
  readonly random: Random
  readonly input: string
  readonly other: string
  readonly words: readonly string[]
}

const mutations: ReadonlyArray<(given: Given) => string> = [
  ({ random, input }) => put(random, input, String.fromCharCode(random(256)), random(2)),
  ({ random, input }) => put(random, input, '', 1 + random(8)),
  ({ random, input, words }) => put(random, input, words[random(words.length)] ?? '', 0),
  ({ random, input, words }) => put(random, input, words[random(words.length)] ?? '', random(8)),
  ({ random, input, other }) => input.slice(0, random(input.length + 1)) + other.slice(random(other.length + 1)),
  ({ random, input }) => put(random, input, part(random, input), 0),
  ({ random, input }) => put(random, input, part(random, input).repeat(1 + random(30)), 0),
  ({ random, input }) => put(random, input, String(random(2 ** 31)), random(4))
]

function put (random: Random, input: string, text: string, instead: number): string {
  const at = random(input.length + 1)
  return input.slice(0, at) + text + input.slice(at + instead)
}

function part (random: Random, input: string): string {
  const at = random(input.length + 1)
  return input.slice(at, at + 1 + random(16))
}
