import { boolean, datetime, decimal, defineModel, foreignKey, integer, text, type Model } from 'fastify-rest-models'

/** Makes typical models: six fields, and a foreign key to the model before. */
export function manyModels (count: number): readonly Model[] {
  const models: Model[] = []
  for (let number = 1; number <= count; number++) {
    const before = models.at(-1)
    models.push(defineModel(`Thing${number}`, {
      name: text({ minLength: 1, maxLength: 80 }),
      note: text({ nullable: true }),
      size: integer({ default: 0 }),
      price: decimal({ precision: 10, scale: 2, default: '0.00' }),
      active: boolean({ default: true }),
      created: datetime({ default: 'now' }),
      ...(before !== undefined && { parent: foreignKey(() => before, { nullable: true }) })
    }))
  }
  return models
}
