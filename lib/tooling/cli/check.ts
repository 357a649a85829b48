import type { Danger } from '../audit/danger.js'
import { inspect, type Inspection } from '../audit/inspect.js'
import type { ResourcePermissions } from '../audit/permissions.js'
import type { VisibleRecords } from '../audit/visible-records.js'
import type { CommandRow } from './command-row.js'
import { loadApp } from './load-app.js'
import { textTable } from './text-table.js'
import { unindexedReport } from './unindexed-report.js'

interface Options {
  readonly all?: true
  readonly export?: string
  readonly strict?: true
}

export const checkCommand: CommandRow<Options> = {
  summary: 'show who may do what in an app, what of it is dangerous, and which filters and orderings have no index',
  arguments: [{
    name: 'module',
    description: 'a JavaScript file that exports an app, a function that returns one, or a plugin for fastify-cli'
  }],
  options: [
    { flags: '-e, --export <name>', description: "the name of the export; 'default' or 'app' if absent" },
    { flags: '-a, --all', description: 'list what has no index on small tables, too' },
    { flags: '-s, --strict', description: 'exit with code 1 if anything is dangerous' }
  ],
  run: async ([path = ''], { export: name, all = false, strict = false }, { out }) => {
    const app = await loadApp(path, name)
    try {
      const { resources, scopes, dangers, unindexed, unbounded } = await inspect(app)
      for (const resource of resources) out(permissionTable(resource))
      if (scopes.length > 0) out(`Scopes, for made-up users:\n${scopes.map(scopeLine).join('\n')}`)
      out(dangers.length === 0 ? 'Nothing dangerous was found.' : `Dangerous:\n${dangerTable(dangers)}`)
      for (const part of unindexedReport(unindexed, all)) out(part)
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
  return `${resource}: ${who}${bounded}\n${textTable(['field', ...permissionColumns], rows)}`
}

function mark (who: string): string {
  return who === 'nobody' ? '-' : who
}

const userNames: Readonly<Record<VisibleRecords['user'], string>> = {
  nobody: 'nobody', user: 'a user', admin: 'an admin'
}

/**
 * Returns a line about the records that a scope shows to a user whom the command has made up to try the scope:
 * `project: a user sees company = user.company`.
 */
function scopeLine (visible: VisibleRecords): string {
  const { resource, user, sees, dependsOn } = visible
  const name = userNames[user]
  if (sees === 'fails') return `${resource}: for ${name} it fails: ${visible.message}`
  // "Nobody sees" would say the opposite.
  const who = user === 'nobody' ? 'who is not logged in' : name
  const unseen = dependsOn.length === 0 ? '' : `, but this depends on ${dependsOn.join(', ')}`
  return `${resource}: ${who} sees ${sees === 'some' ? visible.conditions.join(' and ') : sees}${unseen}`
}

function dangerTable (dangers: readonly Danger[]): string {
  return textTable(['resource', 'field', 'why'], dangers.map(({ resource, field = '', why }) => [resource, field, why]))
}

function unboundedTable (unbounded: Inspection['unbounded']): string {
  return textTable(['resource', 'field'], unbounded.map(({ resource, field }) => [resource, field]))
}
