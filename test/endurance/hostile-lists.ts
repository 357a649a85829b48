import fc from 'fast-check'
import { datetime, defineModel, foreignKey, integer, text, type Model } from '../../lib/index.js'

const nullable = { nullable: true } as const
export const texts = ['text1', 'text2', 'text3', 'text4', 'text5', 'text6'] as const
const integers = ['integer1', 'integer2', 'integer3', 'integer4'] as const
const columns = [...texts, ...integers] as const

/** A model with so many columns that their orderings and filters have no end. */
export const Wide: Model = defineModel('Wide', {
  ...Object.fromEntries(texts.map((name) => [name, text({ ...nullable, maxLength: 100 })])),
  ...Object.fromEntries(integers.map((name) => [name, integer(nullable)])),
  moment: datetime(nullable),
  parent: foreignKey((): Model => Wide, nullable)
})

/** A query may have so many characters. */
const maxQuery = 8192
const maxValues = 1900

const value = '1'
const values = (count: number): string => Array<string>(count).fill(value).join()

/** A list of values of any length, in as many parameters as that takes. */
const count = fc.oneof(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: maxValues }))
const list = fc.record({ column: fc.constantFrom('id', 'parent', ...columns), count })
  .map(({ column, count }) => Array.from({ length: Math.ceil(count / 100) }, (_, index) =>
    `${column}__in=${values(Math.min(100, count - index * 100))}`))

const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'is'] as const
const filter = fc.tuple(
  fc.constantFrom('', 'parent__', 'parent__parent__'), fc.constantFrom(...columns), fc.constantFrom(...operators)
)
  .map(([path, column, operator]) => `${path}${column}__${operator}=${operator === 'is' ? 'null' : value}`)
const filters = fc.oneof(
  fc.array(filter, { minLength: 1, maxLength: 2 }), fc.array(filter, { minLength: 1, maxLength: 19 })
)

/** An ordering, and perhaps a cursor of it that no page had. */
const ordered = fc.oneof(
  fc.shuffledSubarray([...columns], { minLength: 1, maxLength: 4 }),
  fc.shuffledSubarray([...columns], { minLength: 1 })
)
const ordering = fc.tuple(ordered, fc.infiniteStream(fc.boolean()), fc.boolean()).map(([names, bits, hasCursor]) => {
  const directed = names.map((name) => `${bits.next().value === true ? '-' : ''}${name}`)
  const cursor = [20, [...directed, 'id'].join(), ...names.map(() => bits.next().value === true ? null : value), value]
  const after = hasCursor ? `&after=${Buffer.from(JSON.stringify(cursor)).toString('base64url')}` : ''
  return `ordering=${directed.join()}${after}`
})

/** A search of up to five words, and a count. */
const others = fc.tuple(fc.nat(5), fc.boolean()).map(([words, isCounted]) =>
  `${words === 0 ? '' : `&search=${Array<string>(words).fill(value).join('+')}`}${isCounted ? '&count=true' : ''}`)

const includes = ['', '', '', '&include=parent', '&include=parent__parent', '&include=parent__parent__parent']

/** Lists of ever new shapes, from short ones to those that are as long as they may be. */
export function hostileLists (count: number, seed: number): readonly string[] {
  const query = fc.tuple(ordering, others, fc.oneof(list, filters), fc.constantFrom(...includes))
    .map(([order, others, parts, include]) => join(`${order}${others}${include}`, parts))
  return fc.sample(query, { numRuns: count, seed }).map((text) => `/api/wide/?limit=1&${text}`)
}

/** As many of the parts as there is room for. */
function join (order: string, parts: readonly string[]): string {
  let query = order
  for (const part of parts.slice(0, 20)) if (query.length + part.length < maxQuery - 100) query += `&${part}`
  return query
}
