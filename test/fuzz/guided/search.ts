import { seeded } from '../../../benchmarks/random.js'
import { Coverage, type Reached } from './coverage.js'
import { mutate } from './mutate.js'
import { tryInput, type Target } from './targets.js'

export interface Found {
  /** Few inputs that reach all places that were reached. */
  readonly corpus: readonly string[]
  readonly runs: number
  /** How many places were reached, by the corpus that was there before and in the end. */
  readonly before: number
  readonly reached: number
}

const readers = /\/lib\/request\/|@fastify\/busboy|secure-json-parse/

/**
 * Changes inputs at random, and goes on from those that reach code which none has reached before.
 *
 * @throws with the input that is neither read nor refused, or that is read as what it is not
 */
export async function search (
  target: Target, known: readonly string[], { seconds, seed }: { readonly seconds: number, readonly seed: number }
): Promise<Found> {
  const coverage = new Coverage(readers)
  const random = seeded(seed)
  const corpus: Array<{ readonly input: string, readonly reached: Reached }> = []
  const all = new Set<string>()
  let runs = 0
  const attempt = async (input: string): Promise<void> => {
    runs++
    await tryInput(target, input).catch((cause: unknown) => {
      throw new Error(`The input ${JSON.stringify(input)}`, { cause })
    })
    const reached = coverage.take()
    if ([...reached].every((place) => all.has(place))) return
    corpus.push({ input, reached })
    for (const place of reached) all.add(place)
  }
  try {
    for (const input of [...target.seeds, ...known]) await attempt(input)
    const before = all.size
    const pick = (): string => corpus[random(corpus.length)]?.input ?? ''
    for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
      await attempt(mutate(random, [pick(), pick()], target.words))
    }
    return { corpus: fewest(corpus), runs, before, reached: all.size }
  } finally {
    coverage.stop()
  }
}

/** Inputs, the shorter ones first, each of which reaches a place, however often, that those before it do not. */
function fewest (corpus: ReadonlyArray<{ readonly input: string, readonly reached: Reached }>): readonly string[] {
  const seen = new Set<string>()
  return corpus.toSorted((a, b) => a.input.length - b.input.length).filter(({ reached }) => {
    const places = [...reached].map((place) => place.slice(0, place.lastIndexOf('*')))
    const isNew = places.some((place) => !seen.has(place))
    for (const place of places) seen.add(place)
    return isNew
  }).map(({ input }) => input)
}
