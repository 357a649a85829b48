// @once: on SQLite
// @long: about the tests themselves

import { spawnSync } from 'node:child_process'
import { test } from 'tap'
import { bundleScript } from '../support/bundle-script.js'

for (const kind of ['server', 'worker']) {
  test(`a wrong answer of a ${kind} fails the process that started it, whatever the client makes of it`, (t) => {
    const unaware = bundleScript('test/project/unaware.ts')
    const { status, stderr } = spawnSync(process.execPath, [unaware, kind], { encoding: 'utf8' })
    t.equal(status, 1)
    t.match(stderr, 'GET /api/note/ is not answered as documented: there is no 202 Accepted')
    t.match(stderr, /wrong[.-]ts.* has failed/)
    t.end()
  })
}
