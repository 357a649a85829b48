// @once: about the scripts of the project

import { spawnSync } from 'node:child_process'
import { join, relative, resolve } from 'node:path'
import { test } from 'tap'
import { bundleOf, bundleTests } from '../../scripts/bundle-tests.js'
import { judgeCoverage } from '../../scripts/coverage.js'

test('what the bundles of a run have not called is told by its source', async (t) => {
  const folder = t.testdir({
    'main.ts': `import { errors } from '${resolve('lib/errors.js')}'
      new errors.Forbidden()`
  })
  const program = relative('.', join(folder, 'main.ts'))
  await bundleTests([program])
  const coverage = join(folder, 'coverage')
  const { status, stderr } = spawnSync(process.execPath, ['--enable-source-maps', bundleOf(program)], {
    encoding: 'utf8', env: { ...process.env, NODE_V8_COVERAGE: coverage }
  })
  t.equal(status, 0, stderr)
  const { code, failures } = await judgeCoverage(coverage)
  const report = failures.join('\n')
  t.equal(code, 1)
  t.match(report, /^ +errors\.ts +\| +[1-9][\d.]+ \|/m)
  t.match(report, 'ERROR: Coverage for functions')
  t.notMatch(report, 'main', 'only the sources of the package are judged')
})
