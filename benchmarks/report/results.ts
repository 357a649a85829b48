import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../results.md', import.meta.url))

const head = `# Results of the benchmarks

Written by \`npm run benchmark\`, on the engine that \`DATABASE_URL\` names, SQLite if it is not set; a run replaces the section of its
engine and version of Node. *By hand* is a server written for these two tables on the same driver, in \`benchmarks/servers\`: prepared
statements, response schemas, one row more than the page holds instead of counting. Before anything is timed, status, headers and body
of both are compared. Pairs of figures are ours / the other; they are medians of all rounds, memory is that after the last one. A ratio
is the median of the rounds' ratios of requests per second, with the lowest and the highest: above 1 we are faster. *Busy* is the share of
the time in which the server used its core; what is missing it waited for the load generator, a disk, a database server or a neighbour.
`

/** Writes a section into results.md in place of the one with its title, or behind the others. */
export function writeSection (section: string): void {
  const title = titleOf(section)
  const sections = (existsSync(file) ? readFileSync(file, 'utf8') : '').split(/^(?=## )/m).filter((text) => text.startsWith('## '))
  const index = sections.findIndex((text) => titleOf(text) === title)
  sections.splice(index === -1 ? sections.length : index, index === -1 ? 0 : 1, section)
  writeFileSync(file, [head, ...sections.map((text) => `${text.trim()}\n`)].join('\n'))
}

function titleOf (section: string): string {
  return section.split('\n', 1)[0] ?? ''
}
