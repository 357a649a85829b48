// @once: about the scripts of the project

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'tap'
import {
  groupFiles, isCovering, nameGroups, readTestFiles, selectFiles, tagsOf, type TestFile
} from '../../scripts/test-files.js'
import { typescript } from '../support/process.js'

const body = "test('something', (t) => { t.end() })\n"
const file = (name: string, ...tags: string[]): TestFile => (
  { path: name, tags: tagsOf(name, tags.map((tag) => `// @${tag}: a reason\n`).join('') + body) }
)
const files = [
  file('plain'), file('once', 'once'), file('servers', 'servers'),
  file('long', 'long'), file('long-once', 'once', 'long'), file('long-servers', 'servers', 'long')
]
const selected = (engine: string, isAll: boolean) => selectFiles(files, engine, isAll).map(({ path }) => path)

test('a tag of a test file has a name that is known, and a reason', (t) => {
  t.same([...tagsOf('x', `// @once: a reason\n// @long: another\n\n${body}`)], ['once', 'long'])
  for (const line of ['// @log: a reason', '// @long', '// @long:', '// @long: ']) {
    t.throws(() => tagsOf('x', `${line}\n\n${body}`), {
      message: `x: '${line}' is not '// @tag: reason', where the tag is one of once, servers, long, alone, covers`
    })
  }
  t.end()
})

test('a file without a test is refused: among others nobody would notice', (t) => {
  t.throws(() => tagsOf('x', '// @once: a reason\n'), { message: 'x: there is no test in it' })
  t.end()
})

test('a file that sets the time limit of its process is refused unless it is alone in it', (t) => {
  const text = `${body}tap.setTimeout(60_000)\n`
  t.throws(() => tagsOf('x', text), { message: 'x: tap.setTimeout() needs @alone' })
  t.same([...tagsOf('x', `// @alone: waits\n${text}`)], ['alone'])
  t.end()
})

test('D-253: npm test leaves out long files, and runs on servers those that ask for it', (t) => {
  t.same(selected('sqlite', false), ['plain', 'once', 'servers'])
  t.same(selected('postgres', false), ['servers'])
  t.same(selected('mariadb', false), ['servers'])
  t.end()
})

test('D-253: npm test stays short: few files run on servers, few alone, and none starts a browser', (t) => {
  const all = readTestFiles()
  const onServers = selectFiles(all, 'postgres', false).length
  t.ok(onServers <= 20, `${onServers} files on servers, of 20 at most`)
  const short = selectFiles(all, 'sqlite', false)
  const alone = short.filter(({ tags }) => tags.has('alone')).length
  t.ok(alone <= 6, `${alone} files alone, of 6 at most`)
  const browser = /from '(.*\/(chromium|bundled)\.js|playwright-core)'/
  const browsers = short.filter(({ path }) => browser.test(readFileSync(path, 'utf8')))
  t.same(browsers.map(({ path }) => path), [], 'files that start a browser are long')
  t.end()
})

test('npm run test:all runs every file, on servers all but those that are the same everywhere', (t) => {
  t.same(selected('sqlite', true), ['plain', 'once', 'servers', 'long', 'long-once', 'long-servers'])
  t.same(selected('postgres', true), ['plain', 'servers', 'long', 'long-servers'])
  t.end()
})

test('each file runs once, in a process with others or alone if it says so', (t) => {
  const many = [...Array.from({ length: 50 }, (_, index) => file(`file${index}`)), file('alone', 'alone')]
  const groups = groupFiles(many)
  t.same(groups.flat().map(({ path }) => path).sort(), many.map(({ path }) => path).sort())
  t.same(groups.map(({ length }) => length), [13, 13, 12, 12, 1], 'fifteen at most')
  t.end()
})

test('tap, which goes by names, runs files that share a process before those that are alone', (t) => {
  const many = [file('alone', 'alone'), ...Array.from({ length: 170 }, (_, index) => file(`file${index}`))]
  const names = ['sqlite', 'mariadb'].flatMap((engine) => nameGroups(groupFiles(many), engine)).sort()
  t.equal(names.length, 2 * 13)
  t.same(names.map((name) => name.split('-')[0]), [...Array(24).fill('shared'), 'single', 'single'])
  t.match(names.slice(0, 12), Array.from({ length: 12 }, (_, index) => new RegExp(`-0*${index + 1}\\.ts$`)))
  t.end()
})

test('coverage is judged of the files that share a process, and of those alone that say so', (t) => {
  const covering = [file('plain'), file('once', 'once'), file('long', 'long'), file('one', 'alone', 'covers')]
  t.same([...covering, file('alone', 'alone'), file('browser', 'alone', 'long')].filter(isCovering), covering)
  const useless = readTestFiles().filter(({ tags }) => tags.has('covers') && !tags.has('alone'))
  t.same(useless, [], 'files that share a process are counted anyway')
  t.end()
})

test('no file of the project is left out of everything, and each of a server is on both', (t) => {
  const all = readTestFiles()
  t.same(selectFiles(all, 'sqlite', true), all)
  t.same(all.filter(({ tags }) => tags.has('once') && tags.has('servers')), [], 'these say two things')
  t.ok(selectFiles(all, 'sqlite', false).length > all.length / 2)
  t.ok(selectFiles(all, 'postgres', false).length > 10)
  t.end()
})

test('a promise that a test leaves rejected fails its file, and the message names the line', (t) => {
  const args = [...typescript, '--import=./scripts/test-process.js', 'test/project/stray.ts']
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  t.equal(status, 1)
  t.match(stdout, /^not ok 3 - nobody handles this$/m)
  t.match(stdout, /^ +fileName: test\/project\/stray\.ts\n +lineNumber: 5$/m)
  t.match(stdout, /^ok 2 - the next test/m)
  t.end()
})

test('npm run test:all refuses to run where a program is missing', (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...typescript, 'scripts/test.ts', '--all'], {
    encoding: 'utf8', env: { ...process.env, PATH: '' }
  })
  t.equal(status, 1)
  t.equal(stdout, '')
  t.match(stderr, 'npm run test:all needs what is missing here')
  t.match(stderr, /^chromium: not installed: chromium \(Debian, Ubuntu: apt-get install/m)
  t.end()
})
