// @once: about the files of one example
// @long: compiles them

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { compile } from '../support/compile.js'
import { readManifests } from './files.js'

/** A program whose constants are the manifests, with the types of Kubernetes: the compiler refuses other fields. */
function programOf (manifests: readonly unknown[]): string {
  const groups = { Deployment: 'apps/v1', Service: 'core/v1', PodDisruptionBudget: 'policy/v1' }
  const imports = Object.entries(groups).map(([kind, group]) =>
    `import type { ${kind} } from 'kubernetes-types/${group}.js'\n`)
  return imports.join('') + Object.keys(groups).map((kind, index) =>
    `export const a${kind}: ${kind} = ${JSON.stringify(manifests[index])}\n`).join('')
}

test('Kubernetes knows every field of the manifests', (t) => {
  const manifests = readManifests()
  const [deployment, ...others] = manifests
  const [path, other] = ['manifests.ts', 'others.ts'].map((name) => join(t.testdir({}), name)) as [string, string]
  writeFileSync(path, programOf(manifests))
  writeFileSync(other, programOf([{ ...deployment, spek: {} }, ...others]))
  const faults = compile([path, other])
  t.equal(faults.length, 1, faults.join('\n'))
  t.match(faults[0], /others\.ts\(.*'"spek"' does not exist in type 'Deployment'/)
  t.end()
})
