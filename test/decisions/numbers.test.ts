// @once: compares a document with the names of the tests

import { readdir, readFile } from 'node:fs/promises'
import { test } from 'tap'

const read = async (path: string): Promise<string> => await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
const numbersIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? '')

const decided = numbersIn(await read('docs/decisions.md'), /^\| (D-\d+) \|/gm)
const files = (await readdir(new URL('..', import.meta.url), { recursive: true }))
  .filter((name) => name.endsWith('.test.ts'))
const tested = new Map(await Promise.all(files.map(async (name) =>
  [name, numbersIn(await read(`test/${name}`), /\btest\(\s*['"`](D-\d+)/g)] as const)))

test('decisions are numbered from D-01, without gaps', async (t) => {
  t.ok(decided.length > 0)
  t.same(decided, decided.map((_, index) => `D-${String(index + 1).padStart(2, '0')}`))
})

test('each decision has a test', async (t) => {
  const all = new Set([...tested.values()].flat())
  t.same(decided.filter((number) => !all.has(number)), [])
})

test('no test names a decision that is not there', async (t) => {
  for (const [name, numbers] of tested) t.same(numbers.filter((number) => !decided.includes(number)), [], name)
})
