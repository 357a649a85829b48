import { sql, type CompiledQuery, type RawBuilder, type SqlBool } from 'kysely'
import { storageOf, type Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { baseAlias, type ListPlan, type PlannedOrder } from '../plan/list-plan.js'
import type { Dialect } from '../vocabulary/dialects.js'
import { operators } from '../vocabulary/operators.js'
import { conditionSql } from './condition.js'
import { deadlineFunction, type Engine, type Row } from './engine.js'
import { search } from './run.js'
import { columnRef, selection } from './selection.js'

/** What every list of a resource has in common: the table and the columns. */
export interface ListBase {
  readonly model: Model
  readonly columns: readonly Column[]
  /** Milliseconds after which a list is given up. */
  readonly statementTime: number
}

/** The rows of one page, and whether another page follows. */
export interface Page {
  readonly rows: readonly Row[]
  readonly hasNext: boolean
}

/** Runs a list in one statement: it asks for one row more than the page holds instead of counting. */
export async function runList (engine: Engine, base: ListBase, plan: ListPlan): Promise<Page> {
  const { rows } = await search(engine, (dialect) => compileList({ ...engine, dialect }, base, plan))
  return { rows: rows.slice(0, plan.limit), hasNext: rows.length > plan.limit }
}

/** The SQL of a list. Names come from the models, values are parameters. */
export function compileList ({ db, dialect, hasDeadline }: Engine, { model, columns, statementTime }: ListBase, plan: ListPlan): CompiledQuery {
  let query = db.selectFrom(`${model.table} as ${baseAlias}`).select(selection(columns, dialect, baseAlias))
  for (const { alias, from, column, table } of plan.joins) {
    query = query.innerJoin(`${table} as ${alias}`, (on) =>
      on.on(sql<SqlBool>`${columnRef(column, from)} = ${sql.ref(`${alias}.id`)}`))
  }
  const deadline = performance.now() + statementTime
  if (hasDeadline && mayTakeLong(plan)) {
    // First, since SQLite does not go on to the conditions behind one that is false.
    for (const alias of [baseAlias, ...plan.joins.map((join) => join.alias)]) {
      query = query.where(inTime(alias, deadline))
    }
  }
  for (const condition of plan.conditions) {
    // A pattern may take long in one row.
    if (hasDeadline && operators[condition.operator].syntax === 'pattern') query = query.where(inTime(condition.alias, deadline))
    query = query.where(conditionSql(condition, dialect))
  }
  for (const order of plan.ordering) query = query.orderBy(orderSql(order, dialect))
  const { limit, page } = plan
  return query.limit(limit + 1).offset((page - 1) * limit).compile()
}

/** Where nulls go is said only where there may be some: an index in the engine's own order serves the others. */
function orderSql ({ column, descending }: PlannedOrder, dialect: Dialect): RawBuilder<unknown> {
  const ref = columnRef(column, baseAlias)
  const target = storageOf(column, dialect).isCollated ? dialect.exact(ref) : ref
  const { [descending ? 'descending' : 'ascending']: nullsFirst } = dialect.nullsFirst
  return sql`${target} ${column.nullable ? nullsFirst : descending ? sql`desc` : sql`asc`}`
}

/** A walk along the primary key ends after `offset + limit` rows; only a search or a sort can go on for long. */
function mayTakeLong ({ conditions, ordering }: ListPlan): boolean {
  return conditions.length > 0 || ordering.length > 1
}

/** Naming a column of each table makes SQLite ask at every row of that table, wherever it stands in the loops. */
function inTime (alias: string, deadline: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.raw(deadlineFunction)}(${deadline}, ${sql.ref(`${alias}.id`)})`
}
