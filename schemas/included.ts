import { Type, type TProperties, type TSchema } from '@sinclair/typebox'
import { isForeignKey, type Column } from '../lib/model/column.js'
import type { Model } from '../lib/model/model.js'
import { envelopeSchema } from './list.js'
import { shapeSchema } from './shapes.js'

/** For each model, the columns that its records show when they stand in other records. */
type Shown = ReadonlyMap<Model, { readonly visible: readonly Column[] }>

/**
 * Returns the schemas for serializing records that contain related records. A related record follows its foreign key,
 * and may be null or absent. Models may refer to each other in circles, so their schemas are definitions. No property
 * is required, because a serializer writes required properties first, which would change the order.
 *
 * @param visible  columns that records of the resource show
 * @param joins    number of foreign keys that a path may follow
 */
export function includingSchemas (
  visible: readonly Column[], shown: Shown, joins: number
): Readonly<Record<'record' | 'list', TSchema>> {
  const names = namesWithin(targetsOf(visible), shown, joins)
  const recordOf = (columns: readonly Column[]): TSchema =>
    Type.Partial(Type.Object(propertiesOf(columns, names), { additionalProperties: false }))
  const definitions = Object.fromEntries(
    [...names].map(([model, name]) => [name, { ...recordOf(visibleOf(model, shown)), nullable: true }]))
  const record = recordOf(visible)
  return { record: { ...record, definitions }, list: { ...envelopeSchema(record), definitions } }
}

/** Returns a name of a schema definition for each model that foreign keys lead to within a number of joins. */
function namesWithin (targets: readonly Model[], shown: Shown, joins: number): ReadonlyMap<Model, string> {
  const names = new Map<Model, string>()
  let level = targets
  for (let depth = 0; depth < joins; depth++) {
    const others = new Set(level.filter((model) => !names.has(model)))
    for (const model of others) names.set(model, `model${names.size}`)
    level = [...others].flatMap((model) => targetsOf(visibleOf(model, shown)))
  }
  return names
}

function propertiesOf (columns: readonly Column[], names: ReadonlyMap<Model, string>): TProperties {
  const { properties } = shapeSchema('record', { visible: columns, writable: [] })
  return Object.fromEntries(columns.flatMap((column) => {
    const own = [column.key, properties[column.key] as TSchema] as const
    const name = isForeignKey(column) ? names.get(column.target()) : undefined
    return name === undefined ? [own] : [own, [column.field, Type.Unsafe({ $ref: `#/definitions/${name}` })] as const]
  }))
}

function targetsOf (columns: readonly Column[]): readonly Model[] {
  return columns.filter(isForeignKey).map(({ target }) => target())
}

function visibleOf (model: Model, shown: Shown): readonly Column[] {
  return (shown.get(model) as { readonly visible: readonly Column[] }).visible
}
