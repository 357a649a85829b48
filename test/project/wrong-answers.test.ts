// @once: on SQLite
// @long: about the tests themselves

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { typescript } from '../support/process.js'

for (const kind of ['server', 'worker']) {
  test(`a wrong answer of a ${kind} fails the process that started it, whatever the client makes of it`, (t) => {
    const unaware = fileURLToPath(new URL('unaware.ts', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, [...typescript, unaware, kind], { encoding: 'utf8' })
    t.equal(status, 1)
    t.match(stderr, 'GET /api/note/ is not answered as documented: there is no 202 Accepted')
    t.match(stderr, /wrong\.ts has failed/)
    t.end()
  })
}
