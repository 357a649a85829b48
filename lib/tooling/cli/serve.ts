import { errors } from '../../errors.js'
import { describeNotes } from '../introspect/describe-notes.js'
import type { CommandRow } from './command-row.js'
import { documentationPath } from './documentation.js'
import { serveDatabase, type ServedDatabase } from './serve-database.js'
import type { Terminal } from './terminal.js'

interface Options {
  readonly port: string
  readonly host: string
  readonly write?: true
  readonly table?: readonly string[]
  readonly include?: readonly string[]
}

export const serveCommand: CommandRow<Options> = {
  summary: 'serve the tables of a database, read-only by default',
  arguments: [{
    name: 'database-url',
    description: 'sqlite:./site.db, postgres://user:password@host:port/database or mariadb://…'
  }],
  options: [
    { flags: '-p, --port <number>', description: 'port; 0 for any free port', default: '3000' },
    { flags: '-H, --host <address>', description: 'address to listen on', default: '127.0.0.1' },
    { flags: '-w, --write', description: 'let anybody create, change and delete records; only on a loopback address' },
    { flags: '-t, --table <names...>', description: 'only these tables' },
    {
      flags: '-i, --include <columns...>',
      description: 'show these columns, written as table.column, although their names look secret'
    }
  ],
  run: async ([url = ''], { port, host, write = false, table: tables, include }, terminal) => {
    const number = readPort(port)
    if (write && !isLoopback(host)) {
      throw new errors.InvalidOptions(
        `With --write, everybody who reaches the port may write, so it does not listen on '${host}': ` +
        'use 127.0.0.1, or write an app with a policy (see introspect)')
    }
    const log = (line: string): void => terminal.err(line.trimEnd())
    const served = await serveDatabase(url, {
      write, host, log, ...(tables && { tables }), ...(include && { include })
    })
    try {
      announce(await served.app.listen({ port: number, host }), served, terminal)
      await terminal.interrupted()
    } finally {
      await served.app.close()
    }
    return 'success'
  }
}

function readPort (text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port < 2 ** 16) return port
  throw new errors.InvalidOptions('--port is a number from 0 to 65535')
}

function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** Prints the URLs of the served tables, and to standard error the parts that are not served. */
export function announce (
  address: string, { models, notes, hidden, missing }: ServedDatabase, { out, err }: Terminal
): void {
  for (const line of describeNotes(notes)) err(line)
  if (hidden.length > 0) err(`Hidden, because they look secret: ${hidden.join(', ')} (show them with --include)`)
  for (const { name } of models) out(`${address}/api/${name.toLowerCase()}/`)
  if (missing.length === 0) out(`${address}${documentationPath}`)
  else err(`There is no documentation page; to add it, run: npm install ${missing.join(' ')}`)
  out(`Serving ${models.length} ${models.length === 1 ? 'table' : 'tables'} on ${address}; stop it with Ctrl+C`)
}
