import type { Draw } from '../../differential/draw.js'
import type { Request, Scene } from './requests.js'
import { isInside } from './scopes.js'
import { plainValue, type FieldSpec, type Row, type ScopeSpec, type Value } from './specs.js'
import { fieldNamed, modelOf, storedRow } from './translate.js'

/** A row as it is after somebody has changed it past the API. */
export interface Change {
  readonly model: number
  readonly row: Row
}

/** A change that lets the record of a write, or one that its body refers to, leave its scope, if there is one. */
export function drawLeaving (draw: Draw, scene: Scene, request: Request): Change | undefined {
  const stored = storedRow(scene, request)
  if (stored === undefined || !isSeen(scene, request.resource.model, stored)) return undefined
  const referred = referredRows(scene, request, stored)
  const victim = referred.length > 0 && draw.chance(60)
    ? draw.one(referred)
    : { model: request.resource.model, row: stored }
  return drawChange(draw, scene, victim)
}

function isSeen ({ view, rows }: Scene, model: number, row: Row): boolean {
  return isInside(view[model] as ScopeSpec, row, rows)
}

/** The records to which the body refers, but the stored record does not. */
function referredRows (scene: Scene, request: Request, stored: Row): readonly Change[] {
  const model = modelOf(scene, request)
  if (!Array.isArray(request.body)) return []
  return (request.body as ReadonlyArray<readonly [string, unknown]>).flatMap(([name, value]) => {
    const { kind, target = 0 } = fieldNamed(model, name) ?? {}
    const row = kind === 'foreignKey' ? scene.rows[target]?.find(({ id }) => id === value) : undefined
    const isKnown = model.fields.some((field) => field.target === target && stored[field.key] === value)
    return row === undefined || isKnown || row === stored || !isSeen(scene, target, row) ? [] : [{ model: target, row }]
  })
}

function drawChange (draw: Draw, scene: Scene, { model, row }: Change): Change | undefined {
  const { rows, view, world: { models } } = scene
  const { together = [] } = models[model] ?? {}
  const fields = models[model]?.fields.filter(({ name, unique }) => !unique && !together.includes(name)) ?? []
  for (let attempt = 0; fields.length > 0 && attempt < 30; attempt++) {
    const field = draw.one(fields)
    const changed = { ...row, [field.key]: otherValue(draw, scene, field) }
    const after = rows.map((all, at) => at === model ? all.map((other) => other === row ? changed : other) : all)
    if (!isInside(view[model] as ScopeSpec, changed, after)) return { model, row: changed }
  }
  return undefined
}

function otherValue (draw: Draw, { rows }: Scene, field: FieldSpec): Value {
  if (field.nullable && draw.chance(20)) return null
  if (field.kind !== 'foreignKey') return plainValue(draw, field)
  const { [field.target ?? 0]: others = [] } = rows
  return others.length === 0 ? 1 : draw.one(others)['id'] ?? null
}
