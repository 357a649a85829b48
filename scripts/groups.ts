import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Files, and folders, of test that have a process of their own. The others share one with their neighbours. */
export const alone: Readonly<Record<string, string>> = {
  'browser.test.ts': 'starts a browser',
  'command/': 'starts processes',
  'connect.test.ts': 'starts a server, and waits for connections that are lost',
  'deadlines.test.ts': 'measures time',
  'differential.test.ts': 'takes as long as a group',
  'engines/': 'ends processes with their servers',
  'example.test.ts': 'starts processes',
  'failover/': 'measures how long others wait',
  'floods.test.ts': 'starts processes, and measures memory',
  'fuzz/': 'takes as long as a group, and listens for failures of its process',
  'processes/': 'starts processes',
  'recipes.test.ts': 'starts processes',
  'reliability/': 'starts and ends processes',
  'security/authentication.test.ts': 'compares times',
  'security/cost.test.ts': 'measures time and memory',
  'sqlite.test.ts': 'measures time'
}

/** So many files share a process. */
const size = 8
const root = fileURLToPath(new URL('..', import.meta.url))
const groups = join('.tap', 'groups')

/**
 * Files for tap to run, each in a process, that run all files of test which are given. Before its first test a process
 * has to load Fastify, Kysely, the drivers and so on, which takes as much CPU as the tests of most files do.
 *
 * @param files  paths in test
 * @returns paths from the root: of the files themselves, or of files in .tap that import some of them
 */
export function groupFiles (files: readonly string[]): string[] {
  const isAlone = (file: string): boolean => Object.keys(alone).some((start) => file.startsWith(start))
  requireTests(files)
  const shared = files.filter((file) => !isAlone(file))
  rmSync(join(root, groups), { recursive: true, force: true })
  mkdirSync(join(root, groups), { recursive: true })
  return [
    ...files.filter(isAlone).map((file) => `test/${file}`),
    ...[...new Set(shared.map((file) => dirname(file)))].flatMap((folder) => {
      return chunks(shared.filter((file) => dirname(file) === folder)).map((chunk, index) => writeGroup(`${folder === '.' ? 'test' : folder.replaceAll('/', '-')}-${index + 1}.ts`, chunk))
    })
  ]
}

/** @throws if a row of a table stands for no file of test */
export function requireRows (table: Readonly<Record<string, string>>, files: readonly string[]): void {
  const stale = Object.keys(table).filter((start) => !files.some((file) => file.startsWith(start)))
  if (stale.length > 0) throw new Error(`There are no files of test for ${stale.join(' and ')}`)
}

/** In a group nobody would notice a file that tests nothing. */
function requireTests (files: readonly string[]): void {
  const empty = files.filter((file) => !/\btest\(/.test(readFileSync(join(root, 'test', file), 'utf8')))
  if (empty.length > 0) throw new Error(`There is no test in ${empty.join(' and ')}`)
}

/** As many as are needed, of about the same size. */
function chunks (files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / size)
  return Array.from({ length: count }, (_, index) => files.filter((_file, position) => position % count === index))
}

function writeGroup (name: string, files: readonly string[]): string {
  if (existsSync(join(root, groups, name))) throw new Error(`Two folders of test would be the group ${name}`)
  const lines = files.map((file) => `comment('test/${file}')\nawait import('../../test/${file.replace(/ts$/, 'js')}')\n`)
  writeFileSync(join(root, groups, name), `import { comment } from 'tap'\n\n${lines.join('')}`)
  return join(groups, name)
}
