import { createHash } from 'node:crypto'
import type { Json } from '../../lib/index.js'
import type { Draw } from './draw.js'
import { users, type FieldSpec, type ModelSpec } from './specs.js'
import { canonical } from './values.js'

/** A row of a random model: a value for each field; of a foreign key, the place of the row that it refers to. */
export type Row = Readonly<Record<string, Json>>

/** Who may log in: the place of the row among those of the users, its name and its password. */
export const accounts = ['admin', 'alice', 'bob', 'carol'] as const

/** Keys of texts, the first of which some collations take for one another. */
export const textKeys = [
  'a', 'A', 'a ', '\u00e4', 'ss', '\u00df', '%41', 'a,b', '\u{1f600}',
  "it's/?#", ' a', 'a\u0301', '\u00e1', '"', '+', '\\'
]

/** The primary key of a row that is no key of several fields; those that the plugin makes begin with a time. */
export function keyAt (models: readonly ModelSpec[], model: number, at: number): number | string {
  const kind = models[model]?.key
  if (kind === 'text') return textKeys[at] ?? `key ${at}`
  if (kind !== 'uuid') return at + 1
  const hex = createHash('sha256').update(`${model} ${at}`).digest('hex')
  return `${'05f3a9c72b8d46e1'.charAt(at % 16)}${hex.slice(1, 8)}-${hex.slice(8, 12)}-` +
    `4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Rows of all models, that no rule refuses. References to models that come later are set when all rows are there. */
export function drawRows (draw: Draw, models: readonly ModelSpec[]): ReadonlyArray<readonly Row[]> {
  const counts = models.map((_model, at) => at === users ? accounts.length + draw.number(0, 2) : draw.number(2, 10))
  const all: Row[][] = []
  for (const [at, { fields, keyFields, unique }] of models.entries()) {
    const rows: Row[] = []
    for (let place = 0; place < Number(counts[at]); place++) {
      const row = Object.fromEntries(fields.map((field) => [
        field.name,
        at === users ? accountValue(field, place) ?? value(draw, field, counts) : value(draw, field, counts)
      ]))
      const groups = keyFields.length > 0 ? [...unique, keyFields] : unique
      if (!isTaken(fields, rows, row) && !isTakenTogether(groups, rows, row)) rows.push(row)
    }
    counts[at] = rows.length
    all.push(rows)
  }
  return all.map((rows, at) => rows.map((row) => withinReach(models[at]?.fields ?? [], row, counts)))
}

function accountValue ({ name }: FieldSpec, place: number): Json | undefined {
  const account = accounts[place]
  const values: Record<string, Json | undefined> = {
    username: account ?? `user ${place}`,
    password: account ?? `user ${place}`,
    active: account !== 'carol',
    admin: account === 'admin'
  }
  return Object.hasOwn(values, name) ? values[name] : undefined
}

function value (draw: Draw, field: FieldSpec, counts: readonly number[]): Json {
  if (field.options.nullable === true && draw.chance(30)) return null
  if (field.kind !== 'foreignKey') return draw.any(canonical(field))
  // Few records are referred to by many.
  return draw.number(0, Math.min(3, Number(counts[field.target ?? 0]) - 1))
}

function isTaken (fields: readonly FieldSpec[], rows: readonly Row[], row: Row): boolean {
  return fields.some(({ name, options }) => options.unique === true && row[name] !== null &&
    rows.some((other) => other[name] === row[name]))
}

function isTakenTogether (unique: ModelSpec['unique'], rows: readonly Row[], row: Row): boolean {
  return unique.some((names) => rows.some((other) =>
    names.every((name) => row[name] !== null && other[name] === row[name])))
}

/** Rows that were left out are not referred to. */
function withinReach (fields: readonly FieldSpec[], row: Row, counts: readonly number[]): Row {
  return Object.fromEntries(fields.map(({ name, kind, target = 0 }) => [
    name,
    kind === 'foreignKey' && row[name] !== null && Number(row[name]) >= Number(counts[target])
      ? null
      : row[name] ?? null
  ]))
}

/** The `id` of a record, if it has one row for each place. */
export function idAt (
  models: readonly ModelSpec[], rows: ReadonlyArray<readonly Row[]>, { model, at }: { model: number, at: number }
): number | string {
  const { fields = [], keyFields = [] } = models[model] ?? {}
  if (keyFields.length === 0) return keyAt(models, model, at)
  const row = rows[model]?.[at]
  return keyFields.map((name) => {
    const field = fields.find((other) => other.name === name)
    const value = row?.[name] ?? at
    const isLink = field?.kind === 'foreignKey'
    return encodeURIComponent(String(isLink ? keyAt(models, field.target ?? 0, Number(value)) : value))
  }).join()
}
