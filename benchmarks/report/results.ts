import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../results.md', import.meta.url))

const head = `# Results of the benchmarks

\`npm run benchmark\` writes this page. It runs on the engine that \`DATABASE_URL\` names, or on SQLite if it is not set. A
run replaces the section of its engine and version of Node.

*By hand* is a server in \`benchmarks/servers\` that was written for these two tables on the same driver. It uses prepared
statements and response schemas, and reads one row more than the page holds instead of counting. Before anything is
timed, status, headers and body of both servers are compared.

- Pairs of figures are ours / the other. They are medians of all rounds; memory is that after the last one.
- A ratio is the median of the rounds' ratios of the processor time of a request, with the lowest and the highest.
  Above 1, ours takes less.
- *Busy* is the share of the time in which the server used its core. In the rest it waited for the load generator, a
  disk, a database server or another program.
- Sections without the column *connections* are older: 50 connections, and ratios of requests per second. SQLite's lock
  for reading was held in them from the fourth read of a turn on, which saved 1.5 µs of each later read (decision D-99).

\`two-processes\` compares our server in two processes of Node's \`cluster\` with the same server in one. Two processes, the
load generator and the database share the cores of the machine. If both processes use nine tenths of a core, the factor
is that of the requests per second. Otherwise something else bounds those, mostly the load generator. Each process is
then idle for a part of the time, and a request takes a quarter more processor time, because fewer requests arrive
together. So both sides are measured again on one core, which they fill, with the load generator on the other. The
factor is then twice the processor time of a request with one process, over that with two. The table shows both, and
how many cores each part used.

Ours does three things that the servers by hand do not do:

- **Answers of one event-loop turn are sent together** (decision D-97). With 50 connections, a list of 20 then wakes the
  load generator 0.06 times instead of 0.94 times, on the same machine. The server's core does not wake clients on other
  machines, so over a network the gain is smaller. With one or two connections it makes no difference.
- **Writes to SQLite in one event-loop turn are committed together** (decisions D-98 and D-292). With one or two
  connections it makes no difference. With four, a create takes four fifths of the time. The longer a commit waits for
  the disk, the more is saved.
- **Prepared statements of PostgreSQL are described once for each connection** (decision D-294), which saves about 11 µs
  of each use; see [measurements](measurements.md#statements-of-the-driver-pg).

In one run with SQLite 3.53, a server by hand sent answers together as well. These are its µs of processor time, and
ours: 48 and 41 for a list of 20, 145 and 119 for one of 100, 178 and 182 for a filter through a join, 43 and 48 for an
update.
`

/** Writes a section into results.md: it replaces the one with its title, or comes last. */
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
