import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** A fenced block of a page. */
export interface Block {
  /** The first word behind the fence, such as `js`, `console` or `ts`; empty if there is none. */
  readonly language: string
  readonly content: string
  /** Of the opening fence, counted from 1. */
  readonly line: number
  /** The text of the second-level heading that the block stands under; empty above the first. */
  readonly section: string
}

export interface Page {
  readonly file: string
  readonly text: string
  readonly blocks: readonly Block[]
}

/** The front page and all pages of `docs/`, by their paths from the root. */
export const pageFiles: readonly string[] = [
  'README.md', ...readdirSync('docs').filter((file) => file.endsWith('.md')).sort().map((file) => `docs/${file}`)
]

/** Pages that a newcomer reads first: `npm test` runs their programs, `npm run test:all` those of all pages. */
export const firstPages: readonly string[] = [
  'README.md',
  ...['quick-start', 'models', 'options', 'querying', 'errors'].map((name) => `docs/${name}.md`)
]

/** Pages about PostgreSQL alone, and the URL that stands in them. */
export const postgresPages: readonly string[] = ['docs/with-prisma.md', 'docs/with-supabase.md']
export const postgresUrl = 'postgres://me:secret@localhost:5432/app'

export function readPage (file: string): Page {
  const text = readFileSync(file, 'utf8')
  return { file, text, blocks: blocksOf(text) }
}

/** The fenced blocks of a text in Markdown; fences may be indented, as in lists. */
export function blocksOf (text: string): Block[] {
  const blocks: Block[] = []
  let section = ''
  let open: { indent: string, language: string, line: number, lines: string[] } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent, language] = /^( *)```(\w*)/.exec(line) ?? []
    if (open === undefined) {
      if (indent !== undefined) open = { indent, language: language ?? '', line: index + 1, lines: [] }
      section = /^## (.*)/.exec(line)?.[1] ?? section
    } else if (indent === open.indent) {
      blocks.push({ language: open.language, content: open.lines.join('\n'), line: open.line, section })
      open = undefined
    } else {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line)
    }
  }
  if (open !== undefined) throw new Error(`The block of line ${open.line} is not closed`)
  return blocks
}

/** The text without its fenced blocks. */
export function proseOf (text: string): string {
  return text.replace(/^( *)```[\s\S]*?\n\1```$/gm, '')
}

/** The links of a page to files and to headings, as they are written; those to other hosts are left out. */
export function linksOf (text: string): string[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
}

/** The names by which the headings of a page are linked to, as GitHub makes them. */
export function anchorsOf (text: string): string[] {
  return [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'))
}

export function isThere (path: string): boolean {
  return existsSync(path)
}
