// @once: calls functions that no database takes part in

import { test } from 'tap'
import { defineModel, integer } from '../../lib/index.js'
import { acceptDefault } from '../../lib/model/column.js'
import { itemAt, keysOf, lastOf, valueAt } from '../../lib/values/lookup.js'

test('what must be there is returned, also if it is null', async (t) => {
  t.same(keysOf({ list: 1, read: 2 }), ['list', 'read'])
  t.equal(valueAt(new Map([['a', null]]), 'a'), null)
  t.equal(itemAt([null, 2], 0), null)
  t.equal(lastOf([1, 2]), 2)
})

test('what must be there and is not is an error, never undefined', async (t) => {
  t.throws(() => valueAt(new Map([['a', 1]]), 'b'), RangeError)
  t.throws(() => itemAt([1, 2], 2), { name: 'RangeError', message: 'A list of 2 items has none at position 2' })
  t.throws(() => itemAt([1, 2], -1), RangeError)
  t.throws(() => lastOf([]), RangeError)
  const seats = lastOf(defineModel('Room', { seats: integer() }).columns)
  t.throws(() => acceptDefault(seats, 'many'), { name: 'TypeError', message: /'seats'/ })
})
