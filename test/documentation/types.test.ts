// @once: runs the pages, on SQLite
// @long: compiles the pieces of all pages

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { compile } from '../support/compile.js'
import { pageFiles, readPage, type Page } from './page.js'

/** What the pieces of pages are about without saying it: the app, and what the front page imports and defines. */
const surroundings = `
import type { FastifyInstance } from 'fastify'
import restModelsPlugin, * as library from 'fastify-rest-models'
import { openMariadb as mariadb } from 'fastify-rest-models/mariadb'
import { openPostgres as postgres } from 'fastify-rest-models/postgres'
import type { openSqlite } from 'fastify-rest-models/sqlite'
import type { Pool } from 'pg'

const { boolean, datetime, defineModel, foreignKey, password, text } = library
const UserModel = defineModel('User', {
  username: text({ unique: true }), password: password(), email: text(),
  join_date: datetime({ default: 'now' }), active: boolean({ default: true }), admin: boolean({ default: false })
})
const MessageModel = defineModel('Message', { user: foreignKey(() => UserModel), content: text(), pub_date: ` +
  `datetime({ default: 'now' }) })

declare global {
  const app: FastifyInstance
  const db: ReturnType<typeof openSqlite>
  const pool: Pool
  const restModels: typeof restModelsPlugin
  const openMariadb: typeof mariadb
  const openPostgres: typeof postgres
  const User: typeof UserModel
  const Message: typeof MessageModel
  const createTables: typeof library.createTables
  const defineModel: typeof library.defineModel
  const text: typeof library.text
  const userAuth: typeof library.userAuth
}
`

/** As much of Nest as a page uses: to install it takes longer than to install everything else. */
const nest = `
declare module 'reflect-metadata'
declare module '@nestjs/common' {
  export function Module (metadata: { controllers: object[] }): ClassDecorator
  export function Controller (prefix: string): ClassDecorator
  export function Get (): MethodDecorator
}
declare module '@nestjs/platform-fastify' {
  import type { FastifyInstance, FastifyServerOptions } from 'fastify'
  export class FastifyAdapter { constructor (options: FastifyServerOptions) }
  export interface NestFastifyApplication {
    enableShutdownHooks (): void
    getHttpAdapter (): { getInstance (): FastifyInstance }
    listen (port: number, address: string): Promise<void>
  }
}
declare module '@nestjs/core' {
  export const NestFactory: { create<App> (module: object, adapter: object): Promise<App> }
}
`

/** The program of the first step of a page. Its other steps import it; one does so in TypeScript. */
const data = String(readPage('docs/multi-tenant.md').blocks.find(({ language }) => language === 'js')?.content)

/** The mistakes that the compiler finds in the `ts` blocks of pages, each of which is a file of its own in `folder`. */
function mistakesIn (pages: ReadonlyArray<Pick<Page, 'file' | 'blocks'>>, folder: string): string[] {
  const files = new Map([['surroundings.ts', surroundings], ['nest.d.ts', nest], ['data.ts', data]])
  for (const { file, blocks } of pages) {
    for (const { language, content, line } of blocks) {
      if (language === 'ts') files.set(`${file.replace(/\W/g, '-')}-line-${line}.ts`, `${content}\nexport {}\n`)
    }
  }
  for (const [name, content] of files) writeFileSync(join(folder, name), content)
  const settings = { noUnusedLocals: false, noUnusedParameters: false, experimentalDecorators: true }
  return compile([...files.keys()].map((name) => join(folder, name)), settings)
}

test('the pieces in TypeScript compile', (t) => {
  const wrong = {
    file: 'wrong.md', blocks: [{ language: 'ts', content: 'const one: string = User.nothing', line: 1, section: '' }]
  }
  // Inside the package, so that its own name resolves to what was built.
  const folder = mkdtempSync(resolve('dist', 'pieces-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const mistakes = mistakesIn([...pageFiles.map(readPage), wrong], folder)
  t.same(mistakes.filter((mistake) => !mistake.includes('wrong-md')), [])
  t.match(
    mistakes.filter((mistake) => mistake.includes('wrong-md')), [/'nothing' does not exist/],
    'a piece that does not compile is seen'
  )
  t.end()
})

test('the first piece of docs/hooks.md takes the place of the line of the README that registers messages', (t) => {
  const program = readPage('README.md').blocks.find(({ language }) => language === 'js')?.content ?? ''
  const piece = readPage('docs/hooks.md').blocks.find(({ language }) => language === 'ts')?.content ?? ''
  const line = "app.restModels.register(Message, { ownerField: 'user' })"
  t.ok(program.includes(line))
  const folder = mkdtempSync(resolve('dist', 'pasted-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const path = join(folder, 'site.ts')
  writeFileSync(path, program.replace(line, () => piece))
  t.same(compile([path], { noPropertyAccessFromIndexSignature: false }), [])
  t.end()
})

/** The languages of blocks that the runner of pages does not run, where they may stand, and why. */
const notRun: Readonly<Record<string, { readonly files: readonly string[], readonly why: string }>> = {
  jsx: { files: ['docs/admin.md'], why: 'pages, which the tests of them run in a browser' },
  ini: {
    files: ['docs/scaling.md', 'docs/backups.md'],
    why: 'settings of clusters, such as test/failover/ starts, and of servers, which test/backups/ starts'
  },
  sh: { files: ['docs/backups.md'], why: 'commands that test/backups/ types, on servers of its own' },
  sql: {
    files: ['docs/scaling.md', 'docs/querying.md'],
    why: 'what the administrator of a server types there, such as test/failover/ and test/inspection/ do'
  },
  yaml: { files: ['docs/recipes.md'], why: 'settings of linters' },
  '': { files: [], why: 'nobody knows what it is' }
}

test('every block of a page is run, compiled, or one of the few that cannot be', (t) => {
  for (const { file, blocks } of pageFiles.map(readPage)) {
    for (const { language, line } of blocks) {
      t.ok(
        ['js', 'console', 'ts'].includes(language) || notRun[language]?.files.includes(file),
        `${file}:${line} is ${language}`
      )
    }
  }
  t.end()
})
