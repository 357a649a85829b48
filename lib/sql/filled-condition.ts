import type { Dialect, PatternTraits } from '../engines/dialect.js'
import type { Parameter, Slot, Stored } from '../engines/storage.js'
import { operators } from '../fields/operators.js'
import { storageOf, valueKindOf, type Column } from '../model/column.js'
import type { PlannedCondition } from '../plan/list-plan.js'

/**
 * A condition with its values as the engine stores them. {@link openCondition} replaces each value with a {@link Slot}.
 */
export interface FilledCondition extends PatternTraits, Omit<PlannedCondition, 'alias'> {
  /**
   * If true, `values` has one element: the text of a JSON array that holds the values to compare with. Otherwise
   * `values` holds these values themselves.
   */
  readonly isArray?: boolean
}

/**
 * Maximum number of items of an `in` list that is padded: its last item is repeated until their number is a power of
 * two, so that lists of similar length share their SQL. A longer list becomes one JSON array, or stays as it is if the
 * engine or the column cannot compare with an array.
 */
const maxPaddedValues = 128

/**
 * Returns a condition with the same meaning, in a form whose SQL more requests share. An `in` list repeats its last
 * item until their number is a power of two; a list of more than 128 items becomes a JSON array if possible. A
 * condition with patterns gets its {@link PatternTraits} if at least one of them is true. Any other condition stays
 * unchanged.
 */
export function withFewShapes<C extends FilledCondition> (condition: C, dialect: Dialect): C {
  const { column, operator, values } = condition
  const { syntax } = operators[operator]
  if (syntax === 'pattern') return withTraits(condition, dialect)
  if (syntax !== 'list' || values.length === 0) return condition
  // An item of the list takes one value for each column of a key of several columns, or two for bounds.
  const hasBounds = storageOf(column, dialect).bounds !== undefined
  const width = column.parts?.length ?? (hasBounds ? 2 : 1)
  const count = values.length / width
  if (count > maxPaddedValues) {
    const hasArray = dialect.listed !== undefined && column.parts === undefined && isListed(column)
    return hasArray ? { ...condition, values: [toArray(values)], isArray: true } : condition
  }
  const missing = 2 ** Math.ceil(Math.log2(count)) - count
  return { ...condition, values: [...values, ...Array<readonly Stored[]>(missing).fill(values.slice(-width)).flat()] }
}

function withTraits<C extends FilledCondition> (
  condition: C, { ambiguous = nothing, leadingWildcard = nothing }: Dialect
): C {
  const patterns = condition.values.map(String)
  const isAmbiguous = patterns.some((pattern) => ambiguous.test(pattern))
  const hasLeadingWildcard = condition.operator === 'like' &&
    patterns.every((pattern) => leadingWildcard.test(pattern))
  return isAmbiguous || hasLeadingWildcard ? { ...condition, isAmbiguous, hasLeadingWildcard } : condition
}

/** Matches no text. */
const nothing = /(?!)/

/**
 * True for columns of texts, integers and UUIDs: the values that a filter lists for them can be given to the database
 * as one JSON array. Decimals, for example, would lose digits in JSON, and engines compare moments in ways of their
 * own.
 */
function isListed (column: Column): boolean {
  return ['key', 'text', 'integer', 'bigint', 'uuid'].includes(valueKindOf(column).storage)
}

function toArray (values: readonly Stored[]): string {
  return `[${values.map((value) => typeof value === 'bigint' ? String(value) : JSON.stringify(value)).join()}]`
}

/**
 * Returns a condition with a {@link Slot} in place of each value. The value of the operator `is` stays, because it is
 * part of the SQL. Even so, `nextSlot` is called for it, so that each slot has the position of its value.
 */
export function openCondition<C extends FilledCondition> (
  condition: C, nextSlot: () => Slot
): Omit<C, 'values'> & { readonly values: readonly Parameter[] } {
  const slots = condition.values.map(nextSlot)
  return isConstant(condition) ? condition : { ...condition, values: slots }
}

/**
 * Returns all that the SQL of a condition depends on, except the table of its column, as one text. It does not have the
 * values that fill slots, but only how many there are.
 */
export function shapeOfCondition (condition: FilledCondition): string {
  const { column, operator, values, isArray = false, isAmbiguous = false, hasLeadingWildcard = false } = condition
  const filling = isConstant(condition) ? values.join() : isArray ? 'array' : values.length
  const traits = `${isAmbiguous ? ' ambiguous' : ''}${hasLeadingWildcard ? ' wildcard' : ''}`
  return `${column.key} ${operator} ${filling}${traits}`
}

/** True for the operator `is`, whose null, notnull, true or false is part of the compiled statement, not a slot. */
function isConstant ({ operator }: FilledCondition): boolean {
  return operators[operator].syntax === 'constant'
}
