// @once: about what the client sends, and the compiler; what servers answer to it is in client.test.ts
// @long: starts compilers

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { test } from 'tap'
import ts from 'typescript'
import type * as clientModule from '../../lib/client.js'
import { messages, serve, type Site } from './served.js'

const source = (path: string): string => readFileSync(`dist/lib/${path}`, 'utf8')
const importsOf = (path: string): string[] =>
  ts.preProcessFile(source(path)).importedFiles.map(({ fileName }) => fileName)

test('the built client imports its own folder alone', async (t) => {
  const files = new Set(['client.js'])
  for (const file of files) {
    for (const name of importsOf(file)) {
      const target = posix.join(posix.dirname(file), name)
      t.match(target, /^client\/[a-z-]+\.js$/, `'${file}' imports '${name}': only types may come from elsewhere`)
      files.add(target)
    }
  }
  t.ok(files.has('client/send.js') && files.size >= 7, 'all of them were looked at')
})

/** Runs the built client where nothing is global but what browsers have. */
function loadInBrowser (globals: object): typeof clientModule {
  const context = createContext({ ...globals })
  const loaded = new Map<string, object>()
  const load = (path: string): object => {
    const known = loaded.get(path)
    if (known !== undefined) return known
    const exports = {}
    loaded.set(path, exports)
    const { outputText } = ts.transpileModule(source(path), {
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 }
    })
    const run = runInContext(`(function (exports, require) { ${outputText} })`, context, { filename: path }) as (
      exports: object, require: (name: string) => object
    ) => void
    run(exports, (name) => load(posix.join(posix.dirname(path), name)))
    return exports
  }
  return load('client.js') as typeof clientModule
}

test('the built client runs where there is fetch, URL, TextEncoder and btoa, and nothing of Node', async (t) => {
  const { address } = await serve(t, { rows: { message: messages } })
  const { createClient, RestModelsError } = loadInBrowser({ fetch, URL, TextEncoder, btoa })
  const { message } = createClient<Site>({ baseUrl: address, username: 'alice', password: 'alice' })
  const { id } = await message.create({ content: 'é' })
  const seen: number[] = []
  for await (const { id } of message.list({ user__username: 'alice', limit: 2, pub_date__gte: '2024-01-01' })) {
    seen.push(id)
  }
  t.same(seen, [1, 3, 5, id])
  await message.delete(id)
  const failure: unknown = await message.read(id).catch((error: unknown) => error)
  t.ok(failure instanceof RestModelsError)
})
