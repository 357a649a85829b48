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

Ours lets the answers of one turn of the event loop leave together (decision D-97), as the servers by hand do not: with 50 connections the
load generator, on the same machine, is then woken 0.06 times for a list of 20 in place of 0.94 times. Clients on other machines are not woken by
the server's core, so over a network less of it is to be expected; with one or two connections it makes no difference. And on SQLite lists ask
for \`limit cast(? as integer)\`, since SQLite looks at a mere parameter when it plans, and prepares the statement anew whenever that is bound. A
server by hand that did both took, in one run of all with SQLite 3.53, 48 µs of processor time for a list of 20 (ours 41), 145 for one of 100
(ours 119), 178 for a filter through a join (ours 182) and 43 for an update (ours 48).

Writes to SQLite that come in one turn of the event loop are committed together (decision D-98): with one or two connections it makes no
difference, with four a create takes four fifths of the time, and the more the longer a commit waits for the disk.
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
