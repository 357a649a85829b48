// @once: about the sources, not about a database
// @alone: starts compilers
// @long: compiles the sources

import { execFile } from 'node:child_process'
import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'tap'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** A patch of docs/patches: the most files of lib that it may touch, and a program that uses what it adds. */
const patches = {
  operator: {
    maxFiles: 1,
    program: `
      const Note = defineModel('Note', { message: text() })
      const get = await serve(Note, [{ message: 'a' }, { message: 'b' }])
      console.log((await get('/api/note/?message__nlike=%25a')).objects.map(({ message }) => message).join())
    `,
    prints: 'b'
  },
  'field-kind': {
    maxFiles: 4,
    program: `
      const Film = defineModel('Film', { made: lib.year() })
      const get = await serve(Film, [{ made: 1927 }, { made: 2001 }])
      console.log((await get('/api/film/?made__gt=1999')).objects.map(({ made }) => made).join())
      console.log((await get('/api/film/?made=0')).message)
    `,
    prints: "2001\nInvalid value for 'made'"
  },
  policy: {
    maxFiles: 2,
    program: `
      const User = defineModel('User', {
        username: text(), password: lib.password(), active: lib.boolean({ default: true })
      })
      const get = await serve(User, [], lib.signUpAuth(User))
      console.log(Object.keys(await get('/api/user/', { username: 'alice', password: 'secret' })).join())
    `,
    prints: 'id,username,active'
  }
} as const

const prelude = `
  import Fastify from 'fastify'
  import * as lib from './lib/index.js'
  import { openSqlite } from './lib/sqlite.js'
  const { defineModel, text } = lib
  async function serve (model, rows, auth) {
    const db = openSqlite(':memory:')
    await lib.createTables(db, [model])
    for (const row of rows) await db.insertInto(model.table).values(row).execute()
    const app = Fastify()
    await app.register(lib.default, { db })
    app.restModels.register(model, { ...(auth && { auth, exclude: ['password'] }) })
    await app.restModels.setup()
    return async (url, payload) => (await app.inject({ url, payload, method: payload ? 'POST' : 'GET' })).json()
  }
`

test('each patch of docs/patches is tried here', (t) => {
  t.same(readdirSync(join(root, 'docs/patches')).sort(), Object.keys(patches).map((name) => `${name}.patch`).sort())
  t.end()
})

test('the patches compile and work', async (t) => {
  const folder = t.testdir()
  for (const part of ['lib', 'schemas', 'package.json', 'tsconfig.json']) {
    cpSync(join(root, part), join(folder, part), { recursive: true })
  }
  // Otherwise git would find the repository that the folder is in.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) }
  const apply = async (name: string, ...options: readonly string[]): Promise<string> => {
    const patch = join(root, 'docs/patches', `${name}.patch`)
    return (await run('git', ['apply', ...options, patch], { cwd: folder, env })).stdout
  }
  for (const [name, { maxFiles }] of Object.entries(patches)) {
    const statistics = await apply(name, '--numstat', '--check')
    t.equal(statistics.trim().split('\n').length, maxFiles, `the patch for a new ${name}: files of lib`)
  }
  // Compilers take longest, so one of them sees all patches.
  for (const name of Object.keys(patches)) await apply(name)
  const settings = { extends: './tsconfig.json', include: ['lib', 'schemas'] }
  writeFileSync(join(folder, 'tsconfig.patched.json'), JSON.stringify(settings))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const compiled = await run(tsc, ['--noEmit', '-p', 'tsconfig.patched.json'], { cwd: folder })
    .catch(({ stdout }: { readonly stdout: string }) => ({ stdout }))
  t.equal(compiled.stdout, '')
  for (const [name, { program, prints }] of Object.entries(patches)) {
    writeFileSync(join(folder, 'program.ts'), prelude + program)
    const { stdout } = await run(process.execPath, ['--import=tsx', 'program.ts'], { cwd: folder })
    t.equal(stdout.trim(), prints, `what the patch for a new ${name} adds works`)
  }
})
