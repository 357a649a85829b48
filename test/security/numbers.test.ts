import { readdir, readFile } from 'node:fs/promises'
import { test } from 'tap'

const read = async (path: string) => await readFile(new URL(path, import.meta.url), 'utf8')

/** Numbers with their group letters, such as `A-01`, of all tests, by file. */
async function testedNumbers (): Promise<Map<string, Set<string>>> {
  const files = (await readdir(new URL('.', import.meta.url))).filter((name) => name.endsWith('.test.ts'))
  return new Map(await Promise.all(files.map(async (file) =>
    [file, new Set([...(await read(file)).matchAll(/^ *test\(['"]([A-Z]-\d+): /gm)].map(([, number = '']) => number))] as const)))
}

test('every threat of docs/security.md has its test, and every test its threat', async (t) => {
  const sections = (await read('../../docs/security.md')).split(/^###? /m)
  const tested = await testedNumbers()
  const documented = new Map(sections.flatMap((section) => {
    const file = /`([a-z]+\.test\.ts)`/.exec(section)?.[1]
    return file === undefined ? [] : [[file, new Set([...section.matchAll(/^\| ([A-Z]-\d+) \|/gm)].map(([, number = '']) => number))] as const]
  }))
  for (const [file, numbers] of documented) t.same([...numbers].toSorted(), [...tested.get(file) ?? []].toSorted(), file)
  t.same([...tested].filter(([file, numbers]) => numbers.size > 0 && !documented.has(file)), [])

  const numbersOf = (numbers: Iterable<string>) => [...numbers].filter((number) => !number.startsWith('X')).map((number) => Number(number.slice(2)))
  const met = [...documented.values()].flatMap(numbersOf)
  t.same(met.toSorted((a, b) => a - b), Array.from({ length: 100 }, (_, index) => index + 1), 'each number once')
})
