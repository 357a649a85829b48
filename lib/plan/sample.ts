import { kindDocumentation } from '../fields/kind-documentation.js'
import { valueKindNameOf, valueKindOf, valueOptionsOf, type Column } from '../model/column.js'
import type { ScopeCondition } from './viewer.js'

/** Returns an example of a valid value of a column, as the text that a filter by equality takes. */
export function sampleOf (column: Column): string {
  const { example } = kindDocumentation[valueKindNameOf(column)]
  return String(example(valueOptionsOf(column)) ?? 'x')
}

/** Returns an array with one valid value of a column, for a condition by `eq`. */
export function sampleValues (column: Column): ScopeCondition['values'] {
  return [valueKindOf(column).parse(sampleOf(column), column.options)] as ScopeCondition['values']
}
