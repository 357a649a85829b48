// @once: needs no database
// @long: about the tests themselves

import { spawnSync } from 'node:child_process'
import { test } from 'tap'
import { bundleScript } from '../support/bundle-script.js'

const rejecting = bundleScript('test/reliability/rejecting.ts')

test('R-20: a rejection or an exception that nobody handles fails the run', (t) => {
  const run = (kind: string) => spawnSync(process.execPath, [rejecting, kind], { encoding: 'utf8' })
  for (const kind of ['rejection', 'exception']) {
    const { status, stderr } = run(kind)
    t.not(status, 0, kind)
    t.match(stderr, `nobody handles this ${kind}`)
  }
  t.equal(run('nothing').status, 0)
  t.end()
})
