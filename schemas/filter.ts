import { operators, type FilterSyntax, type Operator } from '../lib/fields/operators.js'
import { valueKindOf, type Column } from '../lib/model/column.js'
import { documentationOf, kindSchema, type JsonSchema } from './documentation.js'

/** What the text of a filter may hold at most. */
export interface FilterBounds {
  readonly inItems: number
  readonly patternLength: number
  readonly valueLength: number
}

/** A schema under the name by which all filters of its kind share it. */
export interface NamedSchema {
  readonly name: string
  readonly schema: JsonSchema
}

/** How the text of each syntax is documented. */
const syntaxes: Readonly<Record<FilterSyntax, (column: Column, bounds: FilterBounds) => NamedSchema>> = {
  value: (column, bounds) => ({ name: `${kindName(column)}Filter`, schema: valueOf(column, bounds) }),
  list: (column, bounds) => ({
    name: `${kindName(column)}ListFilter`,
    schema: {
      type: 'string',
      ...listPattern(column),
      description: `Values separated by commas, at most ${bounds.inItems}; a value in double quotes may hold commas, and "" in it is a quote`
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
    ? { name: 'NullOrBooleanFilter', schema: { type: 'string', enum: ['null', 'true', 'false'] } }
    : { name: 'NullFilter', schema: { type: 'string', enum: ['null'] } }
}

/** The schema of the text of a filter by an operator. */
export function filterSchema (column: Column, operator: Operator, bounds: FilterBounds): NamedSchema {
  return syntaxes[operators[operator].syntax](column, bounds)
}

function valueOf (column: Column, { valueLength }: FilterBounds): JsonSchema {
  const schema = kindSchema(column)
  return { ...schema, ...(schema['type'] === 'string' && { maxLength: Math.min(Number(schema['maxLength'] ?? valueLength), valueLength) }), ...documentationOf(column).filter, description: sentence(valueKindOf(column).expects) }
}

/** By type, an item that needs no quotes. */
const items: Readonly<Record<string, string>> = { integer: '0|-?[1-9][0-9]*', number: '-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?', boolean: 'true|false|1|0' }

function listPattern (column: Column): JsonSchema {
  const { type, pattern } = kindSchema(column)
  const item = typeof pattern === 'string' ? pattern.slice(1, -1) : items[String(type)]
  return item === undefined ? {} : { pattern: `^((${item})(,(${item}))*)?$` }
}

/** A reference is told by the primary key that it holds. */
function kindName ({ kind, target }: Column): string {
  const name = target === undefined ? kind : target().columns[0].kind
  return sentence(name)
}

function sentence (text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
