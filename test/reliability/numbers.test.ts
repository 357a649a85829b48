// @once: compares a document with the names of the tests

import { readdir, readFile } from 'node:fs/promises'
import { test } from 'tap'

const read = async (path: string): Promise<string> => await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Names of test files by the numbers with which the names of their tests begin. */
async function testedFaults (): Promise<Map<string, string[]>> {
  const tested = new Map<string, string[]>()
  const files = (await readdir(new URL('..', import.meta.url), { recursive: true }))
    .filter((name) => name.endsWith('.test.ts')).sort()
  for (const file of files) {
    const numbers =
      [...(await read(`test/${file}`)).matchAll(/\btest\(\s*['"`](R-\d+): /g)].map(([, number = '']) => number)
    for (const number of new Set(numbers)) tested.set(number, [...tested.get(number) ?? [], `test/${file}`])
  }
  return tested
}

test('each fault of docs/threats.md has its tests, in the files that are named, or a reason why not', async (t) => {
  const section = (await read('docs/threats.md')).split(/^## /m).find((part) => part.startsWith('Faults')) ?? ''
  const rows = [...section.matchAll(/^\| (R-\d+) \|[^|]*\|[^|]*\| ([^|]*) \|$/gm)]
    .map(([, number = '', where = '']) => ({ number, where }))
  t.same(
    rows.map(({ number }) => number),
    Array.from({ length: 42 }, (_, index) => `R-${String(index + 1).padStart(2, '0')}`)
  )
  const tested = await testedFaults()
  for (const { number, where } of rows) {
    const named = [...where.matchAll(/`(test\/[\w/-]+\.test\.ts)`/g)].map(([, file = '']) => file)
    t.same(named.sort(), tested.get(number) ?? [], number)
    if (named.length === 0) t.match(where, /^not tested: \S/, number)
  }
  t.same([...tested.keys()].filter((number) => rows.every((row) => row.number !== number)), [])
})
