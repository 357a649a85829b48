import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { CheckRow } from '../engines/catalog.js'
import type { Dialect } from '../engines/dialect.js'
import type { Tables } from '../engines/executor.js'
import type { Column } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { modifyColumn } from './alter-table.js'
import { checksOf } from './column-checks.js'
import { nameField } from './compare-tables.js'
import { checksIn, parseCheck } from './parse-check.js'
import type { DatabaseTables } from './read-tables.js'

/** Facts about the database that tell which checks it has. */
interface Existing {
  readonly tables: DatabaseTables
  readonly dialect: Dialect
  /** Compiles statements; runs none. */
  readonly db: Kysely<Tables>
  readonly checks: readonly CheckRow[]
}

/** A check that createTables() may have written: its text in `condition`, its parsed form in `conditions`. */
interface FoundCheck {
  readonly row: CheckRow
  readonly column: string
  readonly condition: string
  readonly conditions: string
}

/**
 * Returns, as sentences with the remedies, how checks that createTables() wrote differ from those that it would write
 * now. Columns without a check, and checks that others wrote, count as fine.
 */
export function changedChecks (models: readonly Model[], existing: Existing): readonly string[] {
  const { tables, dialect, checks } = existing
  const made = models.filter((model) => !tables.isView(model))
  const found = checks.flatMap((row) => readChecks(row, dialect))
  return made.flatMap((model) => model.columns.flatMap((column) => {
    const own = found.filter((check) => isOf(check, { model, column }, existing))
    if (own.length === 0) return []
    // Several models may share a table, and one of them has made it.
    const wanted = made.filter((other) => tables.isSameTable(other, model)).flatMap(({ columns }) =>
      columns.filter(({ name }) => dialect.foldName(name) === dialect.foldName(column.name)))
      .map((sharing) => wantedOf(sharing, existing))
    return own.filter(({ conditions }) => !wanted.includes(conditions))
      .map((check) => differenceOf({ model, column }, check, existing))
  }))
}

interface ModelColumn {
  readonly model: Model
  readonly column: Column
}

function isOf (check: FoundCheck, { model, column }: ModelColumn, { tables, dialect }: Existing): boolean {
  const { foldName } = dialect
  return tables.isSameTable(check.row, model) && foldName(check.column) === foldName(column.name)
}

/** Returns the checks that createTables() may have written; others have no such form. */
export function readChecks (row: CheckRow, dialect: Dialect): readonly FoundCheck[] {
  const conditions = row.column === null ? checksIn(row.text, dialect) : [row.text]
  return conditions.flatMap((condition) => {
    const parsed = parseCheck(condition, dialect)
    // Kysely writes names in quotes, others seldom do.
    const column = row.column ?? /^"(.*)"$/.exec(parsed?.name ?? '')?.[1]
    return parsed === undefined || column === undefined
      ? []
      : [{ row, column, condition, conditions: parsed.conditions }]
  })
}

/** Returns the check of a column as SQL; an empty text if it has none. */
function writeCheck (column: Column, { dialect, db }: Existing): string {
  return sql`${sql.join(checksOf(column, dialect), sql` and `)}`.compile(db).sql
}

function wantedOf (column: Column, existing: Existing): string {
  return parseCheck(writeCheck(column, existing), existing.dialect)?.conditions ?? ''
}

function differenceOf ({ model, column }: ModelColumn, { row, condition }: FoundCheck, existing: Existing): string {
  const wanted = writeCheck(column, existing)
  const need = wanted === '' ? 'no check' : `the check ${wanted}`
  return `${nameField(model, column)} needs ${need}, but column '${column.name}' of table '${model.table}' has ` +
    `${condition}, and the database refuses other values: ${remedyOf({ model, column }, row, existing)}`
}

function remedyOf ({ model, column }: ModelColumn, { name }: CheckRow, existing: Existing): string {
  const { tables, dialect, db } = existing
  const found = tables.columnOf(model, column)
  if (dialect.schema.altersByColumn === true || found === undefined) {
    return "change the model, or rebuild the table, because SQLite can change no check: see 'Limits and choices that " +
      "change' in docs/migrations.md"
  }
  const statement = name === null
    ? modifyColumn(db, { model, column, existing: found }, dialect).compile().sql
    : replaceConstraint(model, name, checksOf(column, dialect)).compile(db).sql
  return `change the model, or, if no other program needs this check, run: ${statement}`
}

/** Returns the statement that puts checks in place of a constraint, or only drops it if there are none. */
function replaceConstraint (
  { table }: Model, name: string, checks: ReturnType<typeof checksOf>
): RawBuilder<unknown> {
  const added = checks.length === 0
    ? sql``
    : sql`, add constraint ${sql.ref(name)} check (${sql.join(checks, sql` and `)})`
  return sql`alter table ${sql.table(table)} drop constraint ${sql.ref(name)}${added}`
}
