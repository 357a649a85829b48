import { parseArgs } from 'node:util'
import { readCorpus, writeCorpus } from './corpus.js'
import { search } from './search.js'
import { targetNames, targets } from './targets.js'

const text = { type: 'string' } as const
const { values } = parseArgs({ options: { seconds: text, seed: text, target: text } })
const seconds = Number(values.seconds ?? 300)
const seed = Number(values.seed ?? 1)
const names = targetNames.filter((name) => values.target === undefined || name === values.target)
if (!(seconds > 0) || !Number.isInteger(seed) || names.length === 0) {
  throw new Error(`--seconds and --seed take numbers, --target one of ${targetNames.join(', ')}`)
}

for (const name of names) {
  const { corpus, runs, before, reached } = await search(targets[name], readCorpus(name), { seconds, seed })
  writeCorpus(name, corpus)
  console.log(`${name}: ${runs} inputs in ${seconds} s with seed ${seed}, no fault; ${reached} places reached, ` +
    `${before} of them at the beginning; ${corpus.length} inputs kept`)
}
