import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { own, runCheck, type Outcome } from './run-tap.js'

/** What a process wrote of its coverage, as far as it is read here. */
interface ProcessCoverage {
  readonly 'source-map-cache': Readonly<Record<string, { readonly data: { sources: readonly string[] } }>>
}

const root = fileURLToPath(new URL('..', import.meta.url))

/** Keeps what the processes of a run of tap wrote of their coverage; the next run removes it. Returns the folder. */
export function keepCoverage (): string {
  const folder = `${root}/.tap/kept-coverage`
  rmSync(folder, { recursive: true, force: true })
  renameSync(`${root}/.tap/coverage`, folder)
  return folder
}

/**
 * Whether the processes whose coverage is in a folder have run every line, branch and function of the sources; prints
 * those which they have not. tap would judge the bundles instead of what they were made of.
 */
export async function judgeCoverage (folder: string): Promise<Outcome> {
  for (const file of readdirSync(folder)) namePaths(`${folder}/${file}`)
  const args = [
    'report', '--check-coverage', '--100', '--temp-directory', folder, '--reporter', 'text', '--skip-full',
    '--exclude-after-remap', '--include', 'lib/**', '--include', 'schemas/**'
  ]
  return await runCheck('coverage', own('c8'), args)
}

/** tap names the sources of a bundle by URLs. By these, c8 would not recognize one whose coverage is judged. */
function namePaths (file: string): void {
  const coverage = JSON.parse(readFileSync(file, 'utf8')) as ProcessCoverage
  for (const { data } of Object.values(coverage['source-map-cache'])) {
    data.sources = data.sources.map((url) => fileURLToPath(url))
  }
  writeFileSync(file, JSON.stringify(coverage))
}
