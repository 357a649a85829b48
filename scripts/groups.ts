import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Test files that share a process. */
const maxGroupFiles = 8
const root = fileURLToPath(new URL('..', import.meta.url))
const groups = join('.tap', 'groups')

/**
 * Returns files for tap to run, each in a process, that run all files of test which are given. Before its first test a
 * process has to load Fastify, Kysely and the drivers, which takes as much CPU as the tests of most files do.
 *
 * @param files  paths in test
 * @returns paths from the root: of the files themselves, or of files in .tap that import some of them
 */
export function groupFiles (files: readonly string[]): string[] {
  const isAlone = (file: string): boolean => hasTag(file, 'alone')
  requireTests(files)
  const shared = files.filter((file) => !isAlone(file))
  rmSync(join(root, groups), { recursive: true, force: true })
  mkdirSync(join(root, groups), { recursive: true })
  return [
    ...files.filter(isAlone).map((file) => `test/${file}`),
    ...[...new Set(shared.map((file) => dirname(file)))].flatMap((folder) => {
      return chunks(shared.filter((file) => dirname(file) === folder)).map((chunk, index) =>
        writeGroup(`${folder === '.' ? 'test' : folder.replaceAll('/', '-')}-${index + 1}.ts`, chunk))
    })
  ]
}

/**
 * What a test file says of itself in comments at its top, with the reason: `// @alone: …` if it needs a process of its
 * own, `// @once: …` if it is the same on each engine, or chooses its engine itself.
 */
export function hasTag (file: string, tag: 'alone' | 'once'): boolean {
  return new RegExp(`^// @${tag}: \\S`, 'm').test(readFileSync(join(root, 'test', file), 'utf8'))
}

/** In a group nobody would notice a file that tests nothing. */
function requireTests (files: readonly string[]): void {
  const empty = files.filter((file) => !/\btest\(/.test(readFileSync(join(root, 'test', file), 'utf8')))
  if (empty.length > 0) throw new Error(`There is no test in ${empty.join(' and ')}`)
}

/** As many as are needed, of about the same size. */
function chunks (files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / maxGroupFiles)
  return Array.from({ length: count }, (_, index) => files.filter((_file, position) => position % count === index))
}

function writeGroup (name: string, files: readonly string[]): string {
  if (existsSync(join(root, groups, name))) throw new Error(`Two folders of test would be the group ${name}`)
  const lines = files.map((file) =>
    `comment('test/${file}')\nawait import('../../test/${file.replace(/ts$/, 'js')}')\n`)
  writeFileSync(join(root, groups, name), `import { comment } from 'tap'\n\n${lines.join('')}`)
  return join(groups, name)
}
