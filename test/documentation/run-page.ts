import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { startServer, type ServerProcess } from '../support/process.js'
import { cookiesOf, curl, parseCurl, type CurlAnswer } from './curl.js'
import { npx } from './npx.js'
import type { Block, Page } from './page.js'
import { arePrintedLines, isPrinted, joinLines } from './printed.js'
import { assignmentOf, commandsOf, type Command } from './shell.js'

/** What a page is reported to. */
export type Reporter = Pick<Test, 'ok' | 'teardown'>

/**
 * What a reader does with a page, from the top to the bottom: saves each `js` block, under the name in the comment of
 * its first line or as `site.mjs`, starts it if its `app` or `server` listens, and types the commands of the `console`
 * blocks, which must print what the page says. A section of the second level that has a `js` block begins in an empty
 * folder.
 */
export async function runPage (t: Reporter, { file, blocks }: Page): Promise<void> {
  const reader = new Reader(t)
  let section: string | undefined
  for (const block of blocks) {
    if (block.language === 'js' && block.section !== section) {
      await reader.beginAfresh()
      section = block.section
    }
    await runners[block.language]?.(reader, block, `${file}:${block.line}`)
  }
  await reader.beginAfresh()
}

type Runner = (reader: Reader, block: Block, where: string) => Promise<void>

const runners: Readonly<Record<string, Runner>> = {
  js: async (reader, { content }) => await reader.save(content),
  console: async (reader, { content }, where) => {
    for (const command of commandsOf(content)) await reader.type(command, where)
  }
}

const run = promisify(execFile)
/** Not that of any answer: two hours ahead of UTC. */
const zone = { TZ: 'Etc/GMT-2' }
const { name: ownName, dependencies, peerDependencies, devDependencies } = JSON.parse(
  readFileSync('package.json', 'utf8')
) as { name: string } & Record<'dependencies' | 'peerDependencies' | 'devDependencies', Record<string, string>>
const installed = [ownName, ...Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies })]

class Reader {
  readonly #t: Reporter
  readonly #start = Date.now()
  #folder = ''
  #cookies = ''
  readonly #variables = new Map<string, string>()
  #server: ServerProcess | undefined

  constructor (t: Reporter) {
    this.#t = t
  }

  async beginAfresh (): Promise<void> {
    await this.#server?.stop()
    this.#server = undefined
    // Inside the package, so that its own name resolves to it.
    const folder = mkdtempSync(join(resolve('dist'), 'page-'))
    this.#t.teardown(() => rmSync(folder, { recursive: true }))
    this.#folder = folder
  }

  async save (code: string): Promise<void> {
    const [, name = 'site.mjs'] = /^\/\/ ([\w./-]+\.m?js)\n/.exec(code) ?? []
    const path = join(this.#folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, code)
    if (!/\b(?:app|server)\.listen\(/.test(code)) return
    await this.#server?.stop()
    this.#server = await startServer(this.#t, name, {
      cwd: this.#folder,
      env: zone,
      undocumented: code.includes('@fastify/rate-limit') ? 'it answers as well' : undefined
    })
  }

  async type (command: Command, where: string): Promise<void> {
    const assignment = assignmentOf(command)
    if (assignment !== undefined) {
      this.#variables.set(assignment.name, (await this.#ask(assignment.words, where)).body)
      return
    }
    const [program = '', ...words] = command.words
    const act = this.#programs[program]
    if (act === undefined) throw new Error(`${where} has a command that is not run: ${command.text}`)
    await act(words, command, where)
  }

  /** Sends a request of a page, with the cookies and the variables that it has by then. */
  async #ask (words: readonly string[], where: string): Promise<CurlAnswer & { readonly isWithHead: boolean }> {
    if (this.#server === undefined) throw new Error(`${where}: no program of the page serves`)
    const request = parseCurl(words.map((word) => word.replaceAll(/\$(\w+)/g, (text, name: string) =>
      this.#variables.get(name) ?? text)))
    const cookies = request.sendsCookies && this.#cookies !== '' ? { cookie: this.#cookies } : {}
    const answer = await curl({ ...request, headers: { ...cookies, ...request.headers } }, this.#server.address)
    if (request.keepsCookies) this.#cookies = cookiesOf(answer)
    return { ...answer, isWithHead: request.isWithHead }
  }

  readonly #programs: Readonly<Record<string, (
    words: readonly string[], command: Command, where: string
  ) => Promise<void>>> = {
      curl: async (words, { text, printed }, where) => {
        const { head, body, isWithHead } = await this.#ask(words, where)
        const split = isWithHead ? splitAnswer(printed) : { head: ['…'], body: printed }
        const isSame = arePrintedLines(split.head, head, this.#start) &&
        isPrinted(joinLines(split.body), body, this.#start)
        this.#t.ok(isSame, `${where}: ${text}`, { found: [...head, '', body].join('\n').split('\n'), wanted: printed })
      },
      node: async ([script = '', ...others], { text, printed }, where) => {
        const { stdout } = await run(process.execPath, [script, ...others], {
          cwd: this.#folder, env: { PATH: process.env['PATH'], ...zone }
        })
        this.#t.ok(
          arePrintedLines(printed, stdout.trimEnd().split('\n').filter((line) => line !== ''), 0), `${where}: ${text}`,
          { found: stdout, wanted: printed }
        )
      },
      npx: async (words, { text, printed }, where) => {
        const { shown, server } = await npx(this.#t, words, this.#folder)
        if (server !== undefined) {
          await this.#server?.stop()
          this.#server = server
        }
        this.#t.ok(
          arePrintedLines(printed, shown().trimEnd().split('\n'), this.#start), `${where}: ${text}`,
          { found: shown().split('\n'), wanted: printed }
        )
      },
      // There is a folder, and the package is in it.
      mkdir: async () => {},
      cd: async () => {},
      npm: async ([verb, ...names], { text }, where) => {
        const isInstall = verb === 'install' && names.every((name) => installed.includes(name.replace(/(.)@.*/, '$1')))
        this.#t.ok(isInstall || (verb === 'init' && names.join() === '-y'), `${where}: ${text}`)
      }
    }
}

/** A printed answer with its head; an empty line, or the last line `…` of the head, ends that. */
function splitAnswer (printed: readonly string[]): { head: readonly string[], body: readonly string[] } {
  const end = printed.includes('') ? printed.indexOf('') : printed.lastIndexOf('…')
  if (end < 0) return { head: printed, body: [] }
  return { head: printed[end] === '' ? printed.slice(0, end) : printed.slice(0, end + 1), body: printed.slice(end + 1) }
}
