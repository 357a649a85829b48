/** Fields beside foreign keys: one of each sort of value. */
const fields = [
  'title: text()', 'state: text({ enum: [\'draft\', \'final\'] })', 'count: integer()', 'price: decimal()',
  'open: boolean({ default: true })', 'made: datetime({ default: \'now\' })'
]

/**
 * The source of a program with so many models, each with three foreign keys: to the two before it, and to the next one,
 * which closes circles through all of them. Of each model it makes requests, right ones and wrong ones.
 */
export function manyModels (count: number): string {
  const numbers = Array.from({ length: count }, (_, index) => index)
  return [
    'import { boolean, datetime, decimal, defineModel, foreignKey, integer, text, ' +
      "type Model } from 'fastify-rest-models'",
    "import { createClient } from 'fastify-rest-models/client'",
    ...numbers.map((number) => modelSource(number, count)),
    `const client = createClient<[${numbers.map((number) => `typeof M${number}`).join(', ')}]>({ baseUrl: ` +
      '\'http://127.0.0.1\' })',
    'export async function use (): Promise<void> {',
    ...numbers.map((number) => useSource(number)),
    '}',
    ''
  ].join('\n')
}

function modelSource (number: number, count: number): string {
  const [before, first, next] = [Math.max(0, number - 1), Math.max(0, number - 2), (number + 1) % count]
  const keys = number === 0
    ? [
      `before: foreignKey((): Model<'M${count - 1}'> => M${count - 1})`,
      `first: foreignKey((): Model<'M${count - 2}'> => M${count - 2})`
      ]
    : [`before: foreignKey(() => M${before})`, `first: foreignKey(() => M${first})`]
  return `const M${number} = defineModel('M${number}', { ` +
    `${[...fields, ...keys, `next: foreignKey((): Model<'M${next}'> => M${next})`].join(', ')} })`
}

function useSource (number: number): string {
  const resource = `client.m${number}`
  return `
  for await (const record of ${resource}.list({ title__like: 'a%', before__count__gt: 1, next__before__first__state: ` +
    `'draft', first_id__next__made__gte: new Date(0), ordering: ['-made', 'title'], limit: 50 })) {
    const state: 'draft' | 'final' = record.state
    await ${resource}.update(record.id, { state, before_id: record.next_id })
  }
  await ${resource}.create({ title: 'a', state: 'final', count: 1, price: '1.50', before_id: 1, first_id: 1, ` +
    `next_id: 1 })
  {
    const { before } = await ${resource}.read(1, { include: ['before__next__first', 'first'] })
    const open: boolean | undefined = before?.next?.first?.open
    await ${resource}.list({ include: ['next__before'], open: open ?? true })
  }
  // @ts-expect-error no such foreign key, three deep
  await ${resource}.list({ include: ['before__next__title'] })
  // @ts-expect-error no such field
  await ${resource}.list({ titel: 'a' })
  // @ts-expect-error no such field, three deep
  await ${resource}.list({ next__before__first__stat: 'draft' })
  // @ts-expect-error no such operator
  await ${resource}.list({ next__count__like: '1' })
  // @ts-expect-error a value of another kind
  await ${resource}.list({ next__before__count: '1' })
  // @ts-expect-error no such ordering
  await ${resource}.list({ ordering: '-mode' })`
}
