import type { CheckRow } from '../../engines/catalog.js'
import type { DescribedType } from '../../engines/described-types.js'
import type { Dialect } from '../../engines/dialect.js'
import { fieldKinds } from '../../fields/field-kinds.js'
import { readChecks } from '../../tables/changed-checks.js'
import { checkedOptions } from '../../tables/parse-check.js'
import type { FieldOptions } from '../../values/field-options.js'

/** Returns the options of fields that the checks of createTables() on a table stand for, by the column. */
export function readChecked (rows: readonly CheckRow[], dialect: Dialect): ReadonlyMap<string, FieldOptions> {
  return new Map(rows.flatMap((row) => readChecks(row, dialect))
    .map(({ column, condition }) => [column, checkedOptions(condition, dialect)]))
}

/**
 * Returns the options that the type and the check of a column give its field. If createTables() wrote a check, it
 * has the length that the model declares, and the length of the type does not count.
 */
export function optionsOf ({ kind, options }: DescribedType, checked: FieldOptions | undefined): FieldOptions {
  if (checked === undefined) return options
  const { maxLength, ...others } = options
  const fitting = Object.entries(checked).filter(([name]) => name in fieldKinds[kind].options)
  return { ...others, ...Object.fromEntries(fitting) }
}
