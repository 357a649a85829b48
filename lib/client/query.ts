import type { Operator, OperatorSyntax } from '../fields/operators.js'

type ListOperator = { [Name in Operator]: OperatorSyntax[Name] extends 'list' ? Name : never }[Operator]

/** The operators whose value is one list. The compiler requires a row for each of them. */
const listOperators: Readonly<Record<ListOperator, true>> = { in: true }

/**
 * Returns the query string of a list, in the order of the query's names. It leaves out names whose value is undefined.
 *
 * @throws TypeError naming the parameter, if its value cannot be written, such as an empty list for `eq`
 */
export function toQuery (query: Readonly<Record<string, unknown>>): string {
  return Object.entries(query).flatMap(([name, value]) =>
    textsOf(name, value).map((text) => `${encode(name, name)}=${encode(name, text)}`)).join('&')
}

function textsOf (name: string, value: unknown): readonly string[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) return [toText(name, value)]
  const texts = value.map((item) => toText(name, item))
  if (isList(name)) return [texts.map(toItem).join(',')]
  if (name === 'ordering' || name === 'include') return [texts.join(',')]
  // An empty list would drop the filter, and every record would match.
  if (texts.length === 0) {
    throw new TypeError(`'${name}' needs a value; only 'in' takes an empty list, which matches nothing`)
  }
  return texts
}

function isList (name: string): boolean {
  const end = name.lastIndexOf('__')
  return end !== -1 && Object.hasOwn(listOperators, name.slice(end + 2))
}

/**
 * Quotes an item of a list if it is empty or holds a comma or a quote: without quotes, the server would misread it.
 * Returns any other item unchanged.
 */
function toItem (text: string): string {
  return text === '' || /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function toText (name: string, value: unknown): string {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new TypeError(`'${name}' is an invalid date`)
    return value.toISOString()
  }
  if (value === null && !name.endsWith('__is')) throw new TypeError(`'${name}' cannot be null; only 'is' tests that`)
  if (value === null || ['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return String(value)
  throw new TypeError(`'${name}' must be a text, a number, a boolean, a date or null, or a list of them`)
}

/**
 * Percent-encodes a text.
 *
 * @throws TypeError naming the parameter, if the text holds half a surrogate pair
 */
export function encode (name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch (cause) {
    throw new TypeError(`'${name}' holds half a surrogate pair`, { cause })
  }
}
