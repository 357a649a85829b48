import Table from 'cli-table3'
import type { Danger } from '../audit/danger.js'
import { inspect, type Inspection } from '../audit/inspect.js'
import type { ResourcePermissions } from '../audit/permissions.js'
import type { VisibleRecords } from '../audit/visible-records.js'
import type { CommandRow } from './command-row.js'
import { loadApp } from './load-app.js'

interface Options {
  readonly export?: string
  readonly strict?: true
}

export const checkCommand: CommandRow<Options> = {
  summary: 'show who may do what in an app, what of it is dangerous, and which filters and orderings have no index',
  argument: {
    name: 'module',
    description: 'a JavaScript file that exports an app, a function that returns one, or a plugin for fastify-cli'
  },
  options: [
    { flags: '-e, --export <name>', description: "the name of the export; 'default' or 'app' if absent" },
    { flags: '-s, --strict', description: 'exit with code 1 if anything is dangerous' }
  ],
  run: async (path, { export: name, strict = false }, { out }) => {
    const app = await loadApp(path, name)
    try {
      const { resources, scopes, dangers, unindexed, unbounded } = await inspect(app)
      for (const resource of resources) out(permissionTable(resource))
      if (scopes.length > 0) out(`Scopes, for made-up users:\n${scopes.map(scopeLine).join('\n')}`)
      out(dangers.length === 0 ? 'Nothing dangerous was found.' : `Dangerous:\n${dangerTable(dangers)}`)
      if (unindexed.length > 0) {
        const further = (['scope', 'search'] as const).filter((wanted) => unindexed.some(({ use }) => use === wanted))
        const what = [...further.map((use) => `${plurals[use]}, `), 'filters'].join('')
        out(`These ${what} and orderings have no index, so each reads its whole table:\n${unindexedTable(unindexed)}`)
      }
      if (unbounded.length > 0) {
        out("Lists show these texts, which have no 'maxLength'; set one if the texts are short:\n" +
          unboundedTable(unbounded))
      }
      return strict && dangers.length > 0 ? 'failure' : 'success'
    } finally {
      await app.close()
    }
  }
}

const permissionColumns = ['read', 'filter', 'order', 'create', 'update'] as const

function permissionTable ({ resource, operations, scoped, fields }: ResourcePermissions): string {
  const rows = fields.map((field) => [field.field, ...permissionColumns.map((column) => mark(field[column]))])
  const who = Object.entries(operations).map(([operation, who]) => `${operation} ${who}`).join(', ')
  const bounded = scoped.length === 0 ? '' : `; a scope bounds ${scoped.join(', ')}`
  return `${resource}: ${who}${bounded}\n${tableOf(['field', ...permissionColumns], rows)}`
}

function mark (who: string): string {
  return who === 'nobody' ? '-' : who
}

const userNames: Readonly<Record<VisibleRecords['user'], string>> = {
  nobody: 'nobody', user: 'a user', admin: 'an admin'
}

/** Returns what a made-up user sees, such as `project: a user sees company = user.company`. */
function scopeLine (visible: VisibleRecords): string {
  const { resource, user, sees } = visible
  const name = userNames[user]
  if (sees === 'fails') return `${resource}: for ${name} it fails: ${visible.message}`
  // "Nobody sees" would say the opposite.
  const who = user === 'nobody' ? 'who is not logged in' : name
  return `${resource}: ${who} sees ${sees === 'some' ? visible.conditions.join(' and ') : sees}`
}

function dangerTable (dangers: readonly Danger[]): string {
  return tableOf(['resource', 'field', 'why'], dangers.map(({ resource, field = '', why }) => [resource, field, why]))
}

const plurals = { scope: 'scopes', search: 'searches' } as const

function unindexedTable (unindexed: Inspection['unindexed']): string {
  return tableOf(['resource', 'by', 'name'], unindexed.map(({ resource, use, name }) => [resource, use, name]))
}

function unboundedTable (unbounded: Inspection['unbounded']): string {
  return tableOf(['resource', 'field'], unbounded.map(({ resource, field }) => [resource, field]))
}

function tableOf (head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  // No colours and no lines between rows: both are noise if the output goes to a file.
  const table = new Table({
    head: [...head],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' }
  })
  table.push(...rows.map((row) => [...row]))
  return table.toString()
}
