import fc from 'fast-check'
import type { Kysely } from 'kysely'
import {
  bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, number, text, uuid, type Json,
  type ResourceRegistry
} from '../../lib/index.js'
import type { Tables } from '../../lib/engines/executor.js'
import { kindModel, modelledKinds, type ModelledKind } from './kinds.js'

/** A field of every kind; some columns have names that SQL would read otherwise. */
const everyKind = {
  text: text({ nullable: true, column: 'select' }),
  integer: integer({ nullable: true, column: 'order' }),
  bigint: bigint({ nullable: true }),
  number: number({ nullable: true }),
  decimal: decimal({ nullable: true }),
  boolean: boolean({ nullable: true }),
  datetime: datetime({ nullable: true }),
  date: date({ nullable: true, column: 'Group' }),
  json: json({ nullable: true }),
  uuid: uuid({ nullable: true })
}
const columnNames: Partial<Record<ModelledKind, string>> = { text: 'select', integer: 'order', date: 'Group' }

/** Four models in a chain of foreign keys, the first with two to the same model. */
export const Origin = defineModel('Origin', everyKind)
export const Far = defineModel('Far', { ...everyKind, link: foreignKey(() => Origin, { nullable: true }) })
export const Middle = defineModel(
  'Middle', { ...everyKind, link: foreignKey(() => Far, { nullable: true, column: 'from' }) }, { table: 'table' }
)
export const Near = defineModel('Near', {
  ...everyKind, link: foreignKey(() => Middle, { nullable: true }), twin: foreignKey(() => Middle, { nullable: true })
})
export const worldModels = [Near, Middle, Far, Origin]

export function registerWorld (registry: ResourceRegistry): void {
  for (const model of worldModels) registry.register(model)
}

/** A record as a list answers it. */
export type WorldRecord = Readonly<Record<string, Json>> & { readonly id: number }

/** The records of each model, from the nearest to the farthest. */
export type World = readonly [
  near: readonly WorldRecord[], middle: readonly WorldRecord[], far: readonly WorldRecord[],
  origin: readonly WorldRecord[]
]

/** The foreign keys of each model of the chain. */
export const linksAt: ReadonlyArray<readonly string[]> = [['link', 'twin'], ['link'], ['link'], []]

const value = (kind: ModelledKind): fc.Arbitrary<Json> => fc.oneof(
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 6, arbitrary: fc.constantFrom(...kindModel(kind).few) },
  { weight: 1, arbitrary: kindModel(kind).any }
)
const values = fc.record(
  Object.fromEntries(modelledKinds.map((kind) => [kind, value(kind)])) as Record<ModelledKind, fc.Arbitrary<Json>>
)

function records (links: readonly string[], maxLength: number): fc.Arbitrary<readonly WorldRecord[]> {
  const ids = fc.record(
    Object.fromEntries(links.map((name) => [`${name}_id`, fc.option(fc.integer({ min: 1, max: 2 }), { freq: 4 })]))
  )
  return fc.array(fc.tuple(values, ids), { minLength: 2, maxLength })
    .map((rows) => rows.map(([kinds, references], index) => ({ id: index + 1, ...kinds, ...references })))
}

/** Random records: at least two of each model, few different values, some nulls. */
export const world = ({ near }: { readonly near: number }): fc.Arbitrary<World> =>
  fc.tuple(records(linksAt[0] ?? [], near), records(linksAt[1] ?? [], 3), records(linksAt[2] ?? [], 3), records([], 3))

/** Replaces all rows of the database by those of a world, without the help of the plugin. */
export async function fill (db: Kysely<Tables>, world: World): Promise<void> {
  const tables = worldModels.map(({ table }, depth) =>
    ({ table, rows: (world[depth] ?? []).map((record) => storedRow(record, depth)) }))
  for (const { table } of tables) await db.deleteFrom(table).execute()
  for (const { table, rows } of tables.reverse()) await db.insertInto(table).values(rows).execute()
}

function storedRow (record: WorldRecord, depth: number): Record<string, unknown> {
  const row: Record<string, unknown> = { id: record.id }
  for (const kind of modelledKinds) {
    const value = record[kind] ?? null
    row[columnNames[kind] ?? kind] = value === null ? null : kindModel(kind).stored(value)
  }
  for (const name of linksAt[depth] ?? []) row[depth === 1 ? 'from' : `${name}_id`] = record[`${name}_id`] ?? null
  return row
}

/** A query string of parameters, in their order. */
export function queryString (parameters: ReadonlyArray<readonly [name: string, value: string]>): string {
  return parameters.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
}
