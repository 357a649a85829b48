import { textOf, type QueryPlans } from '../query-plan.js'

/** https://www.sqlite.org/eqp.html */
export const sqlitePlans: QueryPlans = {
  explain: 'explain query plan ',
  settings: { filter: [], ordering: [] },
  seeks: (rows, { alias, name }) => rows.some((row) => {
    const detail = textOf(row, 'detail')
    return detail.startsWith(`SEARCH ${alias} `) && (detail.includes(`(${name}=`) || detail.includes(`(${name}>? AND ${name}<?)`))
  }),
  // What is equal in the first column alone is sorted in small groups.
  sorts: (rows) => rows.some((row) => textOf(row, 'detail') === 'USE TEMP B-TREE FOR ORDER BY')
}
