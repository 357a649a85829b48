import type { Query } from '../engines/executor.js'
import { baseAlias, type PlannedInclude } from '../plan/list-plan.js'
import type { ScopedRecord } from '../plan/record-guard.js'
import { itemAt } from '../values/lookup.js'
import { includedColumns, includedKeys, includeSql } from './include-sql.js'
import { whereAll } from './scoped-statements.js'
import { selected } from './selection.js'
import { ShapedStatement } from './shaped-statement.js'
import type { SqlContext } from './sql-context.js'
import type { StatementShape } from './statements.js'

/** Returns the keys of the values that {@link includingSelect} selects, in their order. */
export function keysWith ({ visible }: StatementShape, includes: readonly PlannedInclude[]): readonly string[] {
  return [...visible.map(({ key }) => key), ...includedKeys(visible.length, includes)]
}

/**
 * Returns the statement that selects the visible columns of a record and of its related records, if the record meets
 * all conditions of `record.scope`. The record is a subquery, so that its conditions need no alias.
 */
export function includingSelect (
  context: SqlContext, shape: StatementShape, record: ScopedRecord, includes: readonly PlannedInclude[]
): Query {
  const { db, dialect } = context
  const { model, visible } = shape
  const statement = new ShapedStatement('read including', shape, dialect)
  const conditions = statement.isRecord(record)
  const open = statement.open(includes)
  const keys = keysWith(shape, includes)
  const columns = [...visible.map((column) => ({ column, alias: baseAlias })), ...includedColumns(includes)]
  return statement.compileOnce(context, () => {
    const found = whereAll(db.selectFrom(model.table).select(visible.map(({ name }) => name)), conditions)
    let query = db.selectFrom(found.as(baseAlias))
      .select(columns.map(({ column, alias }, index) => selected(column, dialect, alias).as(itemAt(keys, index))))
    for (const include of open) {
      const { alias, column } = include
      query = query.leftJoin(`${column.target().table} as ${alias}`, (on) => on.on(includeSql(include, dialect)))
    }
    return query
  })
}
