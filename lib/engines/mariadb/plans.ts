import { sql } from 'kysely'
import { textOf, type PlanRow, type QueryPlans } from '../query-plan.js'

/** Reads plans of `explain`: https://mariadb.com/kb/en/explain/. */
export const mariadbPlans: QueryPlans = {
  explain: 'explain ',
  settings: { filter: [], include: [], ordering: [] },
  leading: sql`
    select table_name as \`table\`, column_name as \`column\` from information_schema.statistics
    where table_schema = database() and seq_in_index = 1 and column_name is not null`,
  seeks: (rows, { alias }) => rows.some((row) => {
    // The plan says nothing but this remark if a unique index does not have the value.
    if (textOf(row, 'Extra').includes('const table')) return true
    return textOf(row, 'table') === alias &&
      textOf(row, 'possible_keys').split(',').some((key) => key === 'PRIMARY' ? seeksPrimaryKey(row) : key !== '')
  }),
  scans: (rows, alias) =>
    rows.some((row) => textOf(row, 'table') === alias && ['ALL', 'index'].includes(textOf(row, 'type'))),
  sorts: (rows) => rows.some((row) => textOf(row, 'Extra').includes('Using filesort'))
}

/** False if the plan names the primary key because of a join, which compares it with a column instead of a value. */
function seeksPrimaryKey (row: PlanRow): boolean {
  return textOf(row, 'key') === 'PRIMARY' && textOf(row, 'ref').split(',').includes('const')
}
