import Table from 'cli-table3'
import type { Danger } from '../audit/dangers.js'
import { inspect } from '../audit/inspect.js'
import type { ResourcePermissions } from '../audit/permissions.js'
import type { CommandRow } from './command-row.js'
import { loadApp } from './load-app.js'

interface Options {
  readonly export?: string
  readonly strict?: true
}

export const checkCommand: CommandRow<Options> = {
  summary: 'say who may do what in an app, what of that is dangerous, and which filters and orderings have no index',
  argument: { name: 'module', description: 'a JavaScript file that exports an app, a function that gives one, or a plugin for fastify-cli' },
  options: [
    { flags: '-e, --export <name>', description: "the name of the export; 'default' or 'app' if absent" },
    { flags: '-s, --strict', description: 'end with 1 if anything is dangerous' }
  ],
  run: async (path, { export: name, strict = false }, { out }) => {
    const app = await loadApp(path, name)
    try {
      const { resources, dangers, unindexed, unbounded } = await inspect(app)
      for (const resource of resources) out(permissionTable(resource))
      out(dangers.length === 0 ? 'Nothing dangerous was found.' : `Dangerous:\n${dangerTable(dangers)}`)
      if (unindexed.length > 0) out(`No index serves these; each reads its whole table:\n${tableOf(['resource', 'by', 'name'], unindexed.map(({ resource, use, name }) => [resource, use, name]))}`)
      if (unbounded.length > 0) out(`Lists show these texts without 'maxLength'; give them one if they are short:\n${tableOf(['resource', 'field'], unbounded.map(({ resource, field }) => [resource, field]))}`)
      return strict && dangers.length > 0 ? 'failure' : 'success'
    } finally {
      await app.close()
    }
  }
}

const columns = ['read', 'filter', 'order', 'create', 'update'] as const

function permissionTable ({ resource, operations, fields }: ResourcePermissions): string {
  const rows = fields.map((field) => [field.field, ...columns.map((column) => mark(field[column]))])
  return `${resource}: ${Object.entries(operations).map(([operation, who]) => `${operation} ${who}`).join(', ')}\n${tableOf(['field', ...columns], rows)}`
}

function mark (who: string): string {
  return who === 'nobody' ? '-' : who
}

function dangerTable (dangers: readonly Danger[]): string {
  return tableOf(['resource', 'field', 'why'], dangers.map(({ resource, field = '', why }) => [resource, field, why]))
}

function tableOf (head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  // Colours would be noise in a file, and so would a line between rows.
  const table = new Table({ head: [...head], style: { head: [], border: [] }, chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' } })
  table.push(...rows.map((row) => [...row]))
  return table.toString()
}
