// @once: calls functions that no database takes part in

import { test } from 'tap'
import { defineModel, foreignKey, integer, text, uuid } from '../../lib/index.js'
import { acceptDefault } from '../../lib/model/column.js'
import { acceptId } from '../../lib/plan/plan-write.js'
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

test('the id of a user that is no key of what the owner field refers to is none', async (t) => {
  const Person = defineModel('Person', { id: uuid(), name: text() })
  const owner = lastOf(defineModel('Note', { person: foreignKey(() => Person) }).columns)
  t.equal(acceptId(owner, 'nobody'), undefined)
  t.equal(acceptId(owner, 1), undefined)
  t.equal(acceptId(owner, '018F0000-0000-7000-8000-00000000000A'), '018f0000-0000-7000-8000-00000000000a')
})
