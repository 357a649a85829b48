import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'

test('a test that leaves a rejected promise behind', async (t) => {
  const stray = Promise.reject(new Error('nobody handles this'))
  t.equal(typeof stray, 'object')
  await sleep(20)
})

test('the next test', async (t) => { t.pass() })
