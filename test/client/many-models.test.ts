// @once: about what the client sends, and the compiler; what servers answer to it is in client.test.ts
// @long: compiles fifty models

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import ts from 'typescript'
import { manyModels } from './many-models.js'

/**
 * So many take a compiler less than ten seconds, on a machine with nothing else to do. Unlike seconds, they are the
 * same on each machine.
 */
const mostInstantiations = 1_500_000

test('the compiler checks a client of fifty models that refer to each other in less than ten seconds', async (t) => {
  // Inside the package, so that its own name resolves to what was built.
  const folder = mkdtempSync(join(resolve('dist'), 'models-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'models.ts')
  writeFileSync(file, manyModels(50))
  const before = process.cpuUsage()
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    types: ['node']
  })
  const faults = ts.getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  const { user, system } = process.cpuUsage(before)
  const seconds = (user + system) / 1e6
  t.same(faults, [], 'what is right compiles, what is wrong does not, and nothing is too deep or too complex')
  const instantiations = program.getInstantiationCount()
  t.comment(`${seconds.toFixed(1)} s of processor time, ${instantiations} instantiations`)
  t.ok(instantiations < mostInstantiations, `${instantiations} instantiations`)
  t.ok(seconds < 60, `${seconds.toFixed(1)} s, perhaps on a slow machine, with V8's counts of coverage`)
})
