import { itemAt } from '../../values/lookup.js'
import { maxCounted } from '../audit/table-sizes.js'
import type { Unindexed } from '../audit/unindexed.js'
import { textTable } from './text-table.js'

/** Rows below which a table counts as small: to read it whole takes about as long as to use an index. */
const smallTable = 1_000

/** Characters after which a list of names continues on another line. */
const maxLineWidth = 60

/**
 * Returns the report on scopes, searches, included records, filters and orderings without an index: a text with one row
 * for each resource, kind and table, and a text with the number of those that are left out because their tables are
 * small. Returns only the texts that are needed: none, one or both.
 *
 * @param found    what has no index, the largest tables first
 * @param showAll  true to leave out nothing
 */
export function unindexedReport (found: readonly Unindexed[], showAll: boolean): readonly string[] {
  const shown = showAll ? found : found.filter(({ rows }) => rows >= smallTable)
  const omitted = found.length - shown.length
  return [
    ...(shown.length > 0
      ? [`These ${describe(shown)} have no index, so each reads its whole table:\n${unindexedTable(shown)}`]
      : []),
    ...(omitted > 0
      ? [`Left out: ${numberOf(omitted)} ${describe(found)} without an index on tables that have fewer than ` +
        `${numberOf(smallTable)} rows, which are read fast. --all lists them, for tables that will grow`]
      : [])
  ]
}

const plurals = { scope: 'scopes', search: 'searches', include: 'included records' } as const

function describe (found: readonly Unindexed[]): string {
  const further = (['scope', 'search', 'include'] as const).filter((wanted) => found.some(({ use }) => use === wanted))
  return `${further.map((use) => `${plurals[use]}, `).join('')}filters and orderings`
}

function unindexedTable (found: readonly Unindexed[]): string {
  const groups = new Map<string, Unindexed[]>()
  for (const item of found) {
    const key = `${item.resource} ${item.use} ${item.table}`
    groups.set(key, [...groups.get(key) ?? [], item])
  }
  const rows = [...groups.values()].map((group) => {
    const { resource, use, table, rows } = itemAt(group, 0)
    return [resource, use, linesOf(group.map(({ name }) => name)), table, sizeOf(rows)]
  })
  return textTable(['resource', 'by', 'names', 'table', 'rows'], rows)
}

/** Returns names separated by commas, on lines of about {@link maxLineWidth} characters. */
function linesOf (names: readonly string[]): string {
  return names.reduce((text, name) => {
    const line = text.slice(text.lastIndexOf('\n') + 1)
    return `${text},${line.length + name.length > maxLineWidth ? '\n' : ' '}${name}`
  })
}

function sizeOf (rows: number): string {
  return rows < maxCounted ? numberOf(rows) : `${numberOf(maxCounted)} or more`
}

function numberOf (count: number): string {
  return count.toLocaleString('en-US')
}
