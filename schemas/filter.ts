import { notNull, operators, type FilterSyntax, type Operator } from '../lib/fields/operators.js'
import { valueKindNameOf, valueKindOf, type Column } from '../lib/model/column.js'
import { documentationOf, kindSchema, type JsonSchema } from './documentation.js'

/**
 * Limits of the text of one filter: the number of values in an `in` list, the UTF-16 units of a pattern, and the UTF-16
 * units of any other value. If a filter exceeds one of these limits, the server answers 400.
 */
export interface FilterBounds {
  readonly inItems: number
  readonly patternLength: number
  readonly valueLength: number
}

/** A schema and its name. All filters of the same kind and syntax share it by that name. */
export interface NamedSchema {
  readonly name: string
  readonly schema: JsonSchema
}

/** Functions that return the schema of a filter's text and its name, by the syntax of the filter. */
const syntaxes: Readonly<Record<FilterSyntax, (column: Column, bounds: FilterBounds) => NamedSchema>> = {
  value: (column, bounds) => ({ name: `${kindName(column)}Filter`, schema: valueOf(column, bounds) }),
  list: (column, bounds) => ({
    name: `${kindName(column)}ListFilter`,
    schema: {
      type: 'string',
      ...listPattern(column),
      description: `Values separated by commas, at most ${bounds.inItems}; ` +
        'a value in double quotes may hold commas, and "" in it is a quote'
    }
  }),
  pattern: (_column, { patternLength }) => ({
    name: 'PatternFilter',
    schema: {
      type: 'string',
      maxLength: patternLength,
      pattern: '^([^\\\\]|\\\\[\\s\\S])*$',
      description: 'The whole value: % is any text, _ any character, a backslash escapes'
    }
  }),
  constant: ({ kind }) => kind === 'boolean'
    ? { name: 'NullOrBooleanFilter', schema: { type: 'string', enum: ['null', notNull, 'true', 'false'] } }
    : { name: 'NullFilter', schema: { type: 'string', enum: ['null', notNull] } }
}

/** Returns the schema of the text of a filter that uses an operator. */
export function filterSchema (column: Column, operator: Operator, bounds: FilterBounds): NamedSchema {
  return syntaxes[operators[operator].syntax](column, bounds)
}

function valueOf (column: Column, { valueLength }: FilterBounds): JsonSchema {
  const schema = kindSchema(column)
  const maxLength = Math.min(Number(schema['maxLength'] ?? valueLength), valueLength)
  return {
    ...schema,
    ...(schema['type'] === 'string' && { maxLength }),
    ...documentationOf(column).filter,
    description: sentence(valueKindOf(column).expects)
  }
}

/** Patterns of list items that need no quotes, by JSON type. */
const itemPatterns: Readonly<Record<string, string>> = {
  integer: '0|-?[1-9][0-9]*',
  number: '-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?',
  boolean: 'true|false|1|0'
}

function listPattern (column: Column): JsonSchema {
  const { type, pattern } = kindSchema(column)
  const item = typeof pattern === 'string' ? pattern.slice(1, -1) : itemPatterns[String(type)]
  return item === undefined ? {} : { pattern: `^((${item})(,(${item}))*)?$` }
}

/** Returns the name of the kind of a column's values, capitalized. */
function kindName (column: Column): string {
  return sentence(valueKindNameOf(column))
}

function sentence (text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
