import type { Model } from '../../lib/index.js'

/** What a model means for clients and for the database; bounds of values are not told by every engine. */
export function meaningOf ({ name, table, columns, uniqueTogether }: Model): unknown {
  return {
    name,
    table,
    unique: uniqueTogether.map((group) => group.map(({ field }) => field)),
    columns: columns.map((
      { field, key, name, kind, nullable, options: { default: value, unique = false, onDelete = 'restrict' }, target }
    ) => (
      { field, key, name, kind, nullable, default: value, unique, onDelete, target: target?.().name }))
  }
}

export function byName (models: readonly Model[]): unknown[] {
  return [...models].sort((one, other) => one.name.localeCompare(other.name)).map(meaningOf)
}
