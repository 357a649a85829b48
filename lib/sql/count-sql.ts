import { sql, type CompiledQuery } from 'kysely'
import { filteredRows, type FilteredTable, type OpenFilters } from './filtered-rows.js'
import type { OpenPlan } from './list-sql.js'
import type { SqlContext } from './sql-context.js'

/** Key of the number in the row that a count selects. */
export const countKey = 'count'

/** Compiles the SQL that counts the rows of a list, up to `plan.maxRows`, so that no list is read beyond that. */
export function compileCount (
  engine: SqlContext, table: FilteredTable, plan: OpenFilters & Pick<OpenPlan, 'maxRows'>
): CompiledQuery {
  const rows = filteredRows(engine, table, plan, { conditions: [], mayTakeLong: true })
    .select(sql.lit(1).as('row')).limit(engine.dialect.limit(plan.maxRows))
  return engine.db.selectFrom(rows.as('counted')).select(({ fn }) => fn.countAll().as(countKey)).compile()
}
