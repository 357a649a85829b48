import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a test file says of itself at its top, with a reason: `// @once: about headers`. CONTRIBUTING explains them. */
const tagNames = ['once', 'servers', 'long', 'alone', 'covers'] as const
type Tag = typeof tagNames[number]

export interface TestFile {
  /** From the root. */
  readonly path: string
  readonly tags: ReadonlySet<Tag>
}

/**
 * Test files that share a process. Loading Fastify and the drivers takes as much CPU as the tests of most files. Small
 * groups keep all cores busy until the end.
 */
const maxGroupFiles = 15
const root = fileURLToPath(new URL('..', import.meta.url))
/** Not in `.tap`: tap records no coverage of what is there. */
const folder = join('dist', 'tests')

/** All test files of the project. */
export function readTestFiles (): TestFile[] {
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).sort()
  const paths = names.filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => `test/${name}`)
  return paths.map((path) => ({ path, tags: tagsOf(path, readFileSync(join(root, path), 'utf8')) }))
}

/**
 * @throws if a tag is not known or has no reason, if there is no test (in a group nobody would notice), or if a file
 * sets the time limit of its process, which others share
 */
export function tagsOf (path: string, text: string): Set<Tag> {
  const tags = new Set<Tag>()
  for (const [line, name, reason] of text.matchAll(/^\/\/ *@(\w+)(: *\S)?.*$/gm)) {
    const tag = tagNames.find((known) => known === name)
    if (tag === undefined || reason === undefined) {
      throw new Error(`${path}: '${line}' is not '// @tag: reason', where the tag is one of ${tagNames.join(', ')}`)
    }
    tags.add(tag)
  }
  if (/^tap\.setTimeout\(/m.test(text) && !tags.has('alone')) throw new Error(`${path}: tap.setTimeout() needs @alone`)
  if (!/\btest\(/.test(text)) throw new Error(`${path}: there is no test in it`)
  return tags
}

/** The files that run on an engine. */
export function selectFiles (files: readonly TestFile[], engine: string, isAll: boolean): TestFile[] {
  return files.filter(({ tags }) => {
    if (!isAll && tags.has('long')) return false
    return engine === 'sqlite' || (!tags.has('once') && (isAll || tags.has('servers')))
  })
}

/**
 * True for the files whose coverage is judged: those that share a process, and a few others that alone reach some of
 * the sources. The rest is faster without the counts of coverage.
 */
export function isCovering ({ tags }: TestFile): boolean {
  return !tags.has('alone') || tags.has('covers')
}

/** Forgets what earlier runs have written. */
export function clearGroups (): void {
  rmSync(join(root, folder), { recursive: true, force: true })
  mkdirSync(join(root, folder), { recursive: true })
}

/** Files by the process that runs them. */
export function groupFiles (files: readonly TestFile[]): TestFile[][] {
  const shared = files.filter(({ tags }) => !tags.has('alone'))
  const count = Math.ceil(shared.length / maxGroupFiles)
  const groups = Array.from({ length: count }, (_group, index) => shared.filter((_file, at) => at % count === index))
  return [...groups, ...files.filter(({ tags }) => tags.has('alone')).map((file) => [file])]
}

/**
 * The name of the program of each group. tap runs programs in the order of their names: those of several files come
 * first, because they take longest. If one of them began last, the other cores would have nothing to do.
 */
export function nameGroups (groups: ReadonlyArray<readonly TestFile[]>, name: string): string[] {
  return groups.map(([first], index) => {
    const kind = first?.tags.has('alone') === true ? 'single' : 'shared'
    return `${kind}-${name}-${String(index + 1).padStart(3, '0')}.ts`
  })
}

/** Writes the programs that run files on an engine, and returns their paths from the root. */
export function writeGroups (files: readonly TestFile[], engine: string, name = engine): string[] {
  const groups = groupFiles(files)
  return nameGroups(groups, name).map((program, index) => {
    const path = join(folder, program)
    writeFileSync(join(root, path), programOf((groups[index] ?? []).map(({ path }) => path), engine))
    return path
  })
}

/** While files are loaded a test is under way, because tap ends when there is none; their own tests wait for it. */
function programOf (paths: readonly string[], engine: string): string {
  const imports = paths.map((path) => {
    return `  comment('${path} on ${engine}')\n  await import('../../${path.replace(/ts$/, 'js')}')\n`
  })
  return `import { comment, test } from 'tap'

process.env['TEST_ENGINE'] = '${engine}'

test('test files are loaded', async (t) => {
${imports.join('')}  t.pass('${paths.length}')
})
`
}
