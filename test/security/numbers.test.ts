// @once: compares a document with the names of the tests

import { readdir, readFile } from 'node:fs/promises'
import { test } from 'tap'

const read = async (path: string) => await readFile(new URL(path, import.meta.url), 'utf8')

/** The numbers of threats that tests begin with, such as `T-01`, by file. */
async function testedNumbers (): Promise<Map<string, Set<string>>> {
  const files = (await readdir(new URL('.', import.meta.url))).filter((name) => name.endsWith('.test.ts'))
  return new Map(await Promise.all(files.map(async (file) =>
    [
      file, new Set([...(await read(file)).matchAll(/^ *test\(['"](T-\d+): /gm)].map(([, number = '']) => number))
    ] as const)))
}

const filesIn = (text: string) => [...text.matchAll(/`([a-z]+\.test\.ts)`/g)].map(([, file = '']) => file)

test('every threat of docs/threats.md has its test, and every test its threat', async (t) => {
  const sections = (await read('../../docs/threats.md')).split(/^###? /m)
  const tested = await testedNumbers()
  const documented = sections.flatMap((section) => {
    const files = filesIn(section.split('\n', 1)[0] ?? '')
    return files.length === 0
      ? []
      : [{ files, numbers: [...section.matchAll(/^\| (T-\d+) \|/gm)].map(([, number = '']) => number) }]
  })
  for (const { files, numbers } of documented) {
    const inFiles = files.map((file) => [...tested.get(file) ?? []])
    t.same(numbers.toSorted(), [...new Set(inFiles.flat())].toSorted(), files.join())
    for (const [index, file] of files.entries()) t.ok(inFiles[index]?.length, `${file} has some`)
  }
  const named = documented.flatMap(({ files }) => files)
  t.same([...tested].filter(([file, numbers]) => numbers.size > 0 && !named.includes(file)), [])

  const met = documented.flatMap(({ numbers }) => numbers).map((number) => Number(number.slice(2)))
  t.ok(met.length > 100)
  t.same(met.toSorted((a, b) => a - b), met.map((_, index) => index + 1), 'each number once, without gaps')
})

test('docs/threats.md names the files whose tests run on SQLite alone', async (t) => {
  const files = (await readdir(new URL('.', import.meta.url))).filter((name) => name.endsWith('.test.ts'))
  const texts = await Promise.all(files.map(async (file) => [file, await read(file)] as const))
  const once = texts.filter(([, text]) => text.startsWith('// @once: ')).map(([file]) => file)
  const said =
    /on each engine, but for those of\s([^.]|\.test\.ts)+\./.exec(await read('../../docs/threats.md'))?.[0] ?? ''
  t.same(filesIn(said).toSorted(), once.filter((file) => file !== 'numbers.test.ts').toSorted())
  t.ok(once.length > 0)
})
