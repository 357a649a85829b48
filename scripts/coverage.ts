import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { own, runCheck, type Outcome } from './run-tap.js'

/** What Node writes of a process, as far as it is read here. */
interface ProcessCoverage {
  readonly 'source-map-cache'?: Readonly<Record<string, { readonly data?: { sourcesContent?: unknown } | null }>>
}

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}/.tap/kept-coverage`

/** Keeps what the processes of a run of tap wrote of their coverage; the next run removes it. */
export function keepCoverage (): void {
  rmSync(folder, { recursive: true, force: true })
  renameSync(`${root}/.tap/coverage`, folder)
}

/**
 * Whether the processes whose coverage is kept have run every line, branch and function of the sources; prints
 * those which they have not. tap's own judgement is of no use for what tsx compiled (see withoutEmptySources).
 */
export async function judgeCoverage (): Promise<Outcome> {
  for (const file of readdirSync(folder)) withoutEmptySources(`${folder}/${file}`)
  const args = [
    'report', '--check-coverage', '--100', '--temp-directory', folder, '--reporter', 'text', '--skip-full',
    '--include', 'lib/**', '--include', 'schemas/**'
  ]
  return await runCheck('coverage', own('c8'), args)
}

/**
 * The source maps of tsx hold an empty list for the texts of their sources, which v8-to-istanbul takes for files
 * without lines, so that each file would count as covered. Without the list it reads the files.
 */
function withoutEmptySources (file: string): void {
  const coverage = JSON.parse(readFileSync(file, 'utf8')) as ProcessCoverage
  for (const { data } of Object.values(coverage['source-map-cache'] ?? {})) delete data?.sourcesContent
  writeFileSync(file, JSON.stringify(coverage))
}
