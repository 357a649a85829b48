import { errors } from '../../errors.js'
import { describeNotes } from '../introspect/describe-notes.js'
import { passwordVariable, readCredentials } from './basic-credentials.js'
import type { CommandRow } from './command-row.js'
import { documentationPath } from './documentation.js'
import { isLoopback } from './host-check.js'
import { serveDatabase, type ServedDatabase } from './serve-database.js'
import type { Terminal } from './terminal.js'

interface Options {
  readonly port: string
  readonly host: string
  readonly write?: true
  readonly table?: readonly string[]
  readonly schema?: string
  readonly include?: readonly string[]
  readonly user?: string
  readonly password?: string
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
    { flags: '-u, --user <name>', description: 'ask every request for this user and a password (HTTP Basic)' },
    { flags: '--password <text>', description: `the password; better in the environment variable ${passwordVariable}` },
    {
      flags: '-w, --write',
      description: 'let whoever may read also create, change and delete records; without --user only on this machine'
    },
    { flags: '-t, --table <names...>', description: 'only these tables; give the URL before them' },
    { flags: '-s, --schema <name>', description: 'the schema of PostgreSQL to serve, if not that of the search path' },
    {
      flags: '-i, --include <columns...>',
      description: 'show these columns, written as table.column, although their names look secret'
    }
  ],
  run: async ([url = ''], { port, host, write = false, table: tables, schema, include, ...login }, terminal) => {
    const number = readPort(port)
    const credentials = readCredentials(login, process.env)
    const log = (line: string): void => terminal.err(line.trimEnd())
    const served = await serveDatabase(url, {
      write,
      host,
      log,
      ...(schema !== undefined && { schema }),
      ...(tables && { tables }),
      ...(include && { include }),
      ...(credentials && { credentials })
    })
    if (!isLoopback(host)) terminal.err(openHostWarning(credentials !== undefined))
    try {
      announce(await served.app.listen({ port: number, host }), { ...served, write }, terminal)
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

/** Returns the warning about a server that other machines can reach. */
function openHostWarning (hasCredentials: boolean): string {
  return hasCredentials
    ? 'Warning: passwords and records are sent without encryption; put a proxy with TLS in front of the server'
    : 'Warning: everybody who reaches the port may read the database; add --user to ask for a password'
}

/** Maximum number of names or notes in one line. */
const maxListed = 10

/**
 * Prints one line about each of these subjects: the parts of the database that are left out, with the reasons; the
 * hidden columns; the packages that the documentation page lacks, if any; the tables that are served.
 */
export function announce (
  address: string, { models, notes, hidden, missing, write }: ServedDatabase & { readonly write: boolean },
  { out, err }: Terminal
): void {
  err(notes.length === 0 ? 'Nothing is left out' : listed(describeNotes(notes), '; '))
  err(hidden.length === 0
    ? 'No column looks secret, so none is hidden'
    : `Hidden, because they look secret: ${listed(hidden, ', ')} (show them with --include)`)
  if (missing.length > 0) err(`There is no documentation page; to add it, run: npm install ${missing.join(' ')}`)
  const names = listed(models.map(({ name }) => name.toLowerCase()), ', ')
  const page = missing.length > 0 ? '' : `; documentation: ${address}${documentationPath}`
  out(`Serving ${models.length} ${models.length === 1 ? 'table' : 'tables'} on ${address}/api/, ` +
    `${write ? 'with writes' : 'read-only'}: ${names}${page}; stop it with Ctrl+C`)
}

/** Returns texts in one line: the first ten, and then the number of further ones. */
function listed (texts: readonly string[], separator: string): string {
  const shown = texts.slice(0, maxListed).join(separator)
  return texts.length <= maxListed ? shown : `${shown} and ${texts.length - maxListed} more`
}
