// @once: on SQLite; npm run fuzz sends more, on any engine
// @alone: reads V8's counts, which then miss what other tests of its process have run
// @covers: in a bundle V8 does not count by source
// @long: belongs to the fuzzers

import { test } from 'tap'
import { readCorpus } from './corpus.js'
import { search } from './search.js'
import { targetNames, targets, tryInput, type Target } from './targets.js'

for (const name of targetNames) {
  test(`${name}: all inputs that were kept are read or refused`, async (t) => {
    const corpus = readCorpus(name)
    t.ok(corpus.length > 10)
    for (const input of corpus) await tryInput(targets[name], input)
  })
}

test('an input that is neither read nor refused is found by what it reaches on the way', async (t) => {
  const target: Target = {
    ...targets.query,
    run: async (input) => {
      await targets.query.run(input)
      if (/ordering=\w/.test(input)) throw new Error('a fault')
    }
  }
  await t.rejects(search({ ...target, seeds: ['a=b'] }, [], { seconds: 60, seed: 1 }), {
    message: /ordering=/, cause: { message: 'a fault' }
  })
})
