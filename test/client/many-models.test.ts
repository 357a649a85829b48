// @once: about what the client sends, and the compiler; what servers answer to it is in client.test.ts
// @long: compiles fifty models

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { manyModels } from './many-models.js'

/**
 * So many take each compiler less than ten seconds, TypeScript 7 and 6, on a machine with nothing else to do. Unlike
 * seconds, they are the same on each machine.
 */
const mostInstantiations = 1_500_000

test('the compiler checks a client of fifty models that refer to each other in less than ten seconds', async (t) => {
  // Inside the package, so that its own name resolves to what was built.
  const folder = mkdtempSync(join(resolve('dist'), 'models-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'models.ts')
  writeFileSync(file, manyModels(50))
  const { status, stdout } = spawnSync(process.execPath, [
    resolve('node_modules/.bin/tsc'), '--ignoreConfig', '--extendedDiagnostics', '--strict', '--noEmit',
    '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext', '--types', 'node', file
  ], { encoding: 'utf8' })
  t.equal(status, 0, 'what is right compiles, what is wrong does not, and nothing is too deep or too complex')
  const [instantiations, seconds] = [/^Instantiations: +(\d+)$/m, /^Total time: +([\d.]+)s$/m]
    .map((pattern) => Number(pattern.exec(stdout)?.[1]))
  t.comment(`${seconds} s, ${instantiations} instantiations`)
  t.ok(Number(instantiations) < mostInstantiations, stdout)
  t.ok(Number(seconds) < 60, `${seconds} s, perhaps on a slow machine`)
})
