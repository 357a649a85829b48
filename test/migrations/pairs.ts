import type { Draw } from '../differential/draw.js'
import { columnOf, type FieldSpec, type ModelSpec } from '../differential/specs.js'

/** Models as they were, as they are to be, and as their rows keep to both. */
export interface Pair {
  readonly old: readonly ModelSpec[]
  readonly wanted: readonly ModelSpec[]
  /** The old fields, with the rules of the wanted ones. */
  readonly both: readonly ModelSpec[]
}

/** True if rows may get a field later: null, or the same value in all of them. */
function canBeAdded ({ name, options }: FieldSpec, { unique }: ModelSpec): boolean {
  return options.nullable === true && options.default === undefined
    ? true
    : options.default !== undefined && options.unique !== true && !unique.flat().includes(name)
}

/**
 * Draws what models may have been before.
 *
 * @param hasRows  true if their tables have rows, so that required fields were there before
 */
export function drawPair (draw: Draw, wanted: readonly ModelSpec[], hasRows: boolean): Pair {
  const kept = new Map(wanted.map((spec, at) => [at, spec] as const).filter(([at]) => at === 0 || draw.chance(75)))
  // What rows must refer to was there before.
  if (hasRows) {
    for (const { fields } of kept.values()) {
      for (const { target = 0, options } of fields) {
        if (options.nullable !== true) kept.set(target, wanted[target] as ModelSpec)
      }
    }
  }
  const ordered = [...kept].sort(([left], [right]) => left - right)
  const places = new Map(ordered.map(([at], place) => [at, place]))
  const both = ordered.map(([, spec]) => {
    const fields = spec.fields.filter(({ target = 0 }) => places.has(target))
      .filter((field, at) => at === 0 || (hasRows && !canBeAdded(field, spec)) || draw.chance(60))
      .map((field) => field.target === undefined ? field : { ...field, target: Number(places.get(field.target)) })
    return withFields(spec, fields)
  })
  const old = both.map((spec) => withoutRules(draw, spec))
  return { wanted: wanted.map((spec) => withoutSome(draw, spec)), both, old }
}

function withFields (spec: ModelSpec, fields: readonly FieldSpec[]): ModelSpec {
  const names = new Set(fields.map(({ name }) => name))
  return { ...spec, fields, unique: spec.unique.filter((group) => group.every((name) => names.has(name))) }
}

/** Leaves out fields that a table may have without the model's knowing. */
function withoutSome (draw: Draw, spec: ModelSpec): ModelSpec {
  const { fields } = spec
  return withFields(spec, fields.filter(({ kind, options }, at) =>
    at === 0 || kind === 'password' || (options.nullable !== true && options.default === undefined) || draw.chance(85)))
}

/** Leaves out what is unique now and then. Texts that are unique have another type on MariaDB, which stays. */
function withoutRules (draw: Draw, spec: ModelSpec): ModelSpec {
  const fields = spec.fields.map((field): FieldSpec => {
    const { unique, ...options } = field.options
    return unique === true && draw.chance(40) ? { ...field, options } : field
  })
  return { ...spec, fields, unique: spec.unique.filter(() => draw.chance(60)) }
}

export const columnsOf = ({ fields }: ModelSpec): readonly string[] => ['id', ...fields.map(columnOf)]
