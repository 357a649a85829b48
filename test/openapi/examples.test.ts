// @once: about values in documents

import { test } from 'tap'
import { kindDocumentation } from '../../lib/fields/kind-documentation.js'

test('each kind of field has an example, which JSON can hold', (t) => {
  for (const [kind, { example }] of Object.entries(kindDocumentation)) {
    const value = example({})
    t.not(value, undefined, kind)
    t.same(JSON.parse(JSON.stringify(value)), value, kind)
  }
  t.end()
})
