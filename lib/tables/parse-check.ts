import type { Dialect } from '../engines/dialect.js'
import type { FieldOptions } from '../values/field-options.js'

/** A check of a column, in a form that is the same on all engines, whatever the order of its conditions. */
export interface ParsedCheck {
  /** Name of the column as it is written, possibly in quotes. */
  readonly name: string
  readonly conditions: string
}

const operator = /^(?:[<>]=|=|in)$/i
const lengthFunction = /^(?:char_)?length$/i
const literal = /^'|^-?\d/
/** Matches choices that all engines print alike. MariaDB prints `?` for some characters. */
const plainLabel = /^'[^'\\?\p{Cc}\u{10000}-\u{10ffff}]*'$/u
/**
 * Matches the symbols that {@link parseCheck} leaves out: casts that PostgreSQL adds, brackets, commas, `any` and
 * `array`.
 */
const ignored = /^(?:::[\w ]+|[()[\],]|any|array)$/i

/** Returns a pattern that matches the quoted texts, casts, numbers, names and other symbols of SQL, one by one. */
function wordsOf ({ quoted }: Dialect): RegExp {
  const casts = '::(?:text|integer|bigint|numeric|double precision)\\b'
  return new RegExp(`${quoted.source}|${casts}|-?\\d[\\d.]*(?:e[+-]?\\d+)?|\\w+|[<>=!]+|\\S`, 'gis')
}

/** One condition of a check. */
interface Term {
  readonly name: string
  /** True if the condition is about the length of a text. */
  readonly isLength: boolean
  readonly comparison: string
  readonly values: readonly string[]
}

/**
 * Parses a condition such as createTables() writes for a column, also as the engine prints it later: bounds, lengths
 * and choices. Returns undefined for any other condition, because somebody else wrote it.
 */
export function parseCheck (condition: string, dialect: Dialect): ParsedCheck | undefined {
  const terms = termsOf(condition, dialect)
  const [name, ...others] = new Set(terms.map((term) => term?.name))
  if (name === undefined || others.length > 0) return undefined
  return { name, conditions: terms.map((term) => term && textOf(term)).sort().join(' and ') }
}

/**
 * Returns the options of a field that a condition stands for, such as {@link parseCheck} accepts. Choices are left out
 * if engines print one of them in different ways.
 */
export function checkedOptions (condition: string, dialect: Dialect): FieldOptions {
  const terms = termsOf(condition, dialect).filter((term) => term !== undefined)
  return Object.fromEntries(terms.flatMap(({ isLength, comparison, values }): ReadonlyArray<[string, unknown]> => {
    const bound = Number(numberOf(String(values[0])))
    if (comparison === '>=') return [[isLength ? 'minLength' : 'minimum', bound]]
    if (comparison === '<=') return [[isLength ? 'maxLength' : 'maximum', bound]]
    return values.every((value) => plainLabel.test(value)) ? [['enum', values.map(labelOf)]] : []
  }))
}

function termsOf (condition: string, dialect: Dialect): ReadonlyArray<Term | undefined> {
  const terms: string[][] = [[]]
  for (const word of condition.match(wordsOf(dialect)) ?? []) {
    if (/^and$/i.test(word)) terms.push([])
    else if (!ignored.test(word)) terms.at(-1)?.push(word)
  }
  return terms.map(parseTerm)
}

function parseTerm (words: readonly string[]): Term | undefined {
  const [first = '', second = ''] = words
  // A column may have the name of the function.
  const isLength = lengthFunction.test(first) && !operator.test(second)
  const [name = '', comparison = '', ...values] = isLength ? words.slice(1) : words
  if (!operator.test(comparison) || values.length === 0 || !values.every((value) => literal.test(value))) {
    return undefined
  }
  return { name, isLength, comparison, values }
}

function textOf ({ isLength, comparison, values }: Term): string {
  const isRange = comparison.length === 2 && comparison.endsWith('=')
  const compared = values.map(isRange ? numberOf : labelOf).sort()
  return JSON.stringify([isLength, isRange ? comparison : 'in', compared])
}

function numberOf (value: string): string {
  return String(Number(labelOf(value)))
}

/**
 * Returns a literal in a form that is the same on all engines: without the characters that engines escape differently.
 * Each character beyond U+FFFF becomes `????`, because MariaDB prints it so.
 */
function labelOf (value: string): string {
  return value.replace(/\\[nrZ0]|[\\'\p{Cc}]/gu, '').replace(/[\u{10000}-\u{10ffff}]/gu, '????')
}

/** Returns the conditions of all checks without a name in a `create table` statement, as Kysely writes it. */
export function checksIn (statement: string, dialect: Dialect): readonly string[] {
  const words = [...statement.matchAll(wordsOf(dialect))]
  return words.flatMap(([word], at) => {
    const { index: start = 0 } = words[at + 1] ?? {}
    return word === 'check' && words[at - 2]?.[0] !== 'constraint'
      ? [statement.slice(start + 1, words[closingOf(words, at + 1)]?.index)]
      : []
  })
}

/**
 * Returns the position, in `words`, of the parenthesis that closes the one at position `start`; -1 if there is none.
 */
function closingOf (words: ReadonlyArray<readonly string[]>, start: number): number {
  let depth = 0
  return words.findIndex(([word], at) => {
    if (at >= start && word === '(') depth++
    if (at >= start && word === ')') depth--
    return at >= start && depth === 0
  })
}
