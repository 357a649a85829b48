import { sql } from 'kysely'
import { textOf, type PlanRow, type QueryPlans } from '../query-plan.js'

/** A step of a query plan, such as a scan or a sort. `Plans` are the steps whose rows it takes. */
interface PlanNode extends PlanRow {
  readonly Plans?: readonly PlanNode[]
}

/** Returns all steps of a plan. A driver gives the plan's JSON as text, or parsed. */
function nodesOf (rows: readonly PlanRow[]): readonly PlanNode[] {
  return rows.flatMap((row) => {
    const { 'QUERY PLAN': given } = row
    const plans: ReadonlyArray<{ readonly Plan: PlanNode }> = typeof given === 'string' ? JSON.parse(given) : given
    return plans.flatMap(({ Plan }) => [...descend(Plan)])
  })
}

function * descend (node: PlanNode): Generator<PlanNode> {
  yield node
  for (const child of node.Plans ?? []) yield * descend(child)
}

/** Makes the planner avoid a sequential scan if any index serves. */
const noSequentialScan = sql`set local enable_seqscan = off`

/** Makes the planner join tables by looking up each row by an index, if one serves. */
const noOtherJoin = [sql`set local enable_hashjoin = off`, sql`set local enable_mergejoin = off`]

/** Query plans by EXPLAIN: https://www.postgresql.org/docs/15/sql-explain.html */
export const postgresPlans: QueryPlans = {
  explain: 'explain (format json) ',
  settings: {
    // Without statistics, the planner would read half of all rows in the order of the key to find those of a boolean.
    filter: [noSequentialScan, sql`set local enable_indexscan = off`],
    include: [noSequentialScan, ...noOtherJoin],
    ordering: [noSequentialScan, sql`set local enable_sort = off`]
  },
  // Only the first column of a b-tree leads to a part of it. Other kinds of indexes serve each of their columns.
  sought: sql`
    select c.relname as "table", a.attname as "column"
    from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisvalid
    join pg_class x on x.oid = i.indexrelid
    join pg_am m on m.oid = x.relam
    cross join unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) with ordinality k (number, position)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
    where pg_table_is_visible(c.oid) and (k.position = 1 or m.amname <> 'btree')`,
  seeks: (rows, { alias, name }) => nodesOf(rows).some((node) => textOf(node, 'Alias') === alias &&
    indexConditionsOf(node).some((condition) => namesColumn(condition, name))),
  scans: (rows, alias) => nodesOf(rows).some((node) => textOf(node, 'Alias') === alias &&
    indexConditionsOf(node).every((condition) => condition === '')),
  // An incremental sort does not count: an index has put its rows into the order of the first column.
  sorts: (rows) => nodesOf(rows).some((node) => textOf(node, 'Node Type') === 'Sort')
}

/**
 * Returns the conditions by which a scan uses its indexes, or empty texts. A bitmap scan has them in the steps below
 * it, which have no alias. It repeats them as a recheck, but not that of a boolean.
 */
function indexConditionsOf ({ Plans = [], ...node }: PlanNode): readonly string[] {
  const bitmaps = Plans.filter((step) => textOf(step, 'Alias') === '')
  return [textOf(node, 'Index Cond'), ...bitmaps.flatMap(indexConditionsOf)]
}

function namesColumn (condition: string, name: string): boolean {
  return condition.split(/[^A-Za-z0-9_]+/).includes(name)
}
