import {
  boolean, date, decimal, defineModel, foreignKey, integer, text, uuid, type Field, type ForeignKeyField, type Model
} from '../../../lib/index.js'
import type { Draw } from '../../differential/draw.js'

export type Value = string | number | boolean | null
/** A record as a resource without a scope shows it. */
export type Row = Readonly<Record<string, Value>>
/** The records of all models, by the number of the model. */
export type Rows = ReadonlyArray<readonly Row[]>

const makers = { text, integer, boolean, decimal, date } as const
type PlainKind = keyof typeof makers

/** A field of a random model, as plain data. */
export interface FieldSpec {
  readonly name: string
  /** Name in records. */
  readonly key: string
  readonly kind: PlainKind | 'foreignKey' | 'id'
  readonly nullable: boolean
  readonly unique: boolean
  readonly default?: Value
  /** Number of the model that a foreign key refers to. */
  readonly target?: number
  readonly onDelete?: 'restrict' | 'cascade' | 'set null'
}

export interface ModelSpec {
  readonly name: string
  readonly hasUuidKey: boolean
  readonly fields: readonly FieldSpec[]
  /** Names of fields that are unique together: a foreign key and the size. */
  readonly together: readonly string[]
}

/** The users of the requests: those that log in, by number, or nobody. */
export const senders = [0, 1, 2, 'nobody'] as const
export type Sender = typeof senders[number]

/**
 * Who may do what: `all` needs a user for everything, `writes` for writes only, `open` for nothing. The users of
 * `foreign` are others than those of the rest, who happen to have the same ids.
 */
export type PolicyName = 'all' | 'writes' | 'foreign' | 'open'

/** A condition of a scope: the foreign keys to follow, and what must hold of the field at their end. */
export interface Condition {
  /** The name in the object that `scope` returns. */
  readonly name: string
  readonly path: readonly FieldSpec[]
  readonly field: FieldSpec
  readonly operator: string
  readonly value: Value | readonly Value[]
}

/** The conditions for one user; null for no record. */
export type ScopeSpec = readonly Condition[] | null

export interface ResourceSpec {
  readonly path: string
  readonly model: number
  readonly policy: PolicyName
  readonly exclude: readonly string[]
  readonly owner: FieldSpec | undefined
  /** Names of the text fields that searches look at. */
  readonly search: readonly string[]
  /** The scope of each user; undefined for a resource without a scope. */
  readonly scopes: ReadonlyMap<Sender, ScopeSpec> | undefined
}

export const keyField = (hasUuidKey: boolean): FieldSpec & { readonly isUuid: boolean } =>
  ({ name: 'id', key: 'id', kind: 'id', nullable: false, unique: false, isUuid: hasUuidKey })

/** Values that often meet, and sometimes do not. */
const few: Readonly<Record<PlainKind, readonly Value[]>> = {
  text: ['a', 'A', 'ab', 'b', 'a%', ''],
  integer: [-1, 0, 1, 2, 10],
  boolean: [true, false],
  decimal: ['-1.10', '0.00', '1.00', '9.00', '10.00'],
  date: ['1999-12-31', '2000-02-29', '2024-01-01']
}

export function plainValue (draw: Draw, { kind, unique }: FieldSpec): Value {
  if (unique) return `u${draw.number(0, 14)}`
  return draw.one(few[kind as PlainKind])
}

const modelNames = ['Alpha', 'Beta', 'Gamma', 'Delta']

/** One to four models, whose foreign keys lead anywhere, to themselves and in circles too. */
export function drawModels (draw: Draw): readonly ModelSpec[] {
  const count = draw.weighted([[1, 1], [2, 2], [4, 3], [3, 4]])
  return modelNames.slice(0, count).map((name, at) => {
    const references = ['one', 'two', 'three'].slice(0, draw.weighted([[1, 0], [4, 1], [4, 2], [1, 3]]))
      .map((name) => reference(draw, name, draw.chance(70) ? (at + 1) % count : draw.number(0, count - 1)))
    return {
      name,
      hasUuidKey: draw.chance(30),
      fields: [
        ...draw.some(Object.keys(makers) as PlainKind[], 55).map((kind) => plainField(draw, kind)),
        ...draw.chance(30) ? [{ ...plainField(draw, 'text'), name: 'code', key: 'code', unique: true }] : [],
        plainField(draw, 'integer', 'size'),
        ...references
      ],
      together: references.length > 0 && draw.chance(40) ? [draw.one(references).name, 'sizes'] : []
    }
  })
}

function plainField (draw: Draw, kind: PlainKind, name: string = kind): FieldSpec {
  const nullable = draw.chance(40)
  const field: FieldSpec = { name: `${name}s`, key: `${name}s`, kind, nullable, unique: false }
  return draw.chance(40) ? { ...field, default: plainValue(draw, field) } : field
}

function reference (draw: Draw, name: string, target: number): FieldSpec {
  const nullable = draw.chance(50)
  const onDelete = draw.one(['restrict', 'restrict', 'cascade', ...nullable ? ['set null' as const] : []] as const)
  return { name, key: `${name}_id`, kind: 'foreignKey', nullable, unique: false, target, onDelete }
}

/** The models of specifications. */
export function define (specs: readonly ModelSpec[]): readonly Model[] {
  const made: Model[] = []
  for (const { name, hasUuidKey, fields, together } of specs) {
    const declared: Record<string, Field | ForeignKeyField> = {}
    for (const spec of fields) declared[spec.name] = declare(spec, made)
    const options = (together.length > 0 ? { unique: [together] } : {}) as object
    made.push(defineModel(name, { ...(hasUuidKey && { id: uuid() }), ...declared }, options))
  }
  return made
}

function declare (field: FieldSpec, made: readonly Model[]): Field | ForeignKeyField {
  const { kind, nullable, unique, target = 0, onDelete } = field
  const options = { ...(nullable && { nullable }), ...(unique && { unique }) }
  if (kind === 'foreignKey') return foreignKey(() => made[target] as Model, { ...options, onDelete } as object)
  const maker = makers[kind as PlainKind] as (options: object) => Field
  return maker({ ...options, ...(field.default !== undefined && { default: field.default }) })
}

/** The key of a record by its number, so that records of both kinds of keys are in the same order. */
export function keyAt ({ hasUuidKey }: ModelSpec, at: number): number | string {
  return hasUuidKey ? `00000000-0000-4000-8000-${String(at).padStart(12, '0')}` : at
}

/** Rows of all models. Each reference leads to a row. */
export function drawRows (draw: Draw, models: readonly ModelSpec[]): Rows {
  const counts = models.map(() => draw.number(3, 8))
  return models.map((model, at) => Array.from({ length: counts[at] as number }, (_row, index) => ({
    id: keyAt(model, index + 1),
    ...Object.fromEntries(model.fields.map((field) =>
      [field.key, storedValue(draw, { models, counts, index }, field)])),
    // No two are the same here. Those of requests are some of them.
    ...(model.together.length > 0 && { sizes: index })
  })))
}

function storedValue (
  draw: Draw,
  { models, counts, index }: {
    readonly models: readonly ModelSpec[], readonly counts: readonly number[], readonly index: number
  },
  field: FieldSpec
): Value {
  if (field.nullable && draw.chance(25)) return null
  if (field.unique) return `u${index}`
  if (field.kind !== 'foreignKey') return plainValue(draw, field)
  const { target = 0 } = field
  return keyAt(models[target] as ModelSpec, draw.number(1, counts[target] as number))
}
