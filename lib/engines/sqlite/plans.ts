import { textOf, type QueryPlans } from '../query-plan.js'

/** Reads plans of `explain query plan`: https://www.sqlite.org/eqp.html. */
export const sqlitePlans: QueryPlans = {
  explain: 'explain query plan ',
  settings: { filter: [], include: [], ordering: [] },
  seeks: (rows, { alias, name }) => rows.some((row) => {
    const detail = textOf(row, 'detail')
    return detail.startsWith(`SEARCH ${alias} `) && [`(${name}=`, `(${name}>?`].some((part) => detail.includes(part))
  }),
  // An automatic index is made of all rows for this statement alone.
  scans: (rows, alias) => rows.some((row) => {
    const detail = textOf(row, 'detail')
    return detail.startsWith(`SCAN ${alias} `) || detail.includes(' USING AUTOMATIC ')
  }),
  // If an index orders by the first column, only small groups are sorted, and the detail reads differently.
  sorts: (rows) => rows.some((row) => textOf(row, 'detail') === 'USE TEMP B-TREE FOR ORDER BY')
}
