import { unknownKey, type Body, type Request, type Scene } from './requests.js'
import { fixedBy, isInside } from './scopes.js'
import type { FieldSpec, ModelSpec, Row, Rows, ScopeSpec, Value } from './specs.js'

/** What a request becomes where there are no scopes. */
export interface Translated {
  /** The request itself, without what no request without scopes can say. */
  readonly asked: Request
  readonly request: Request
  /** Rows outside the scope that the server refers to by itself. */
  readonly extra: Rows
  /** The name of a field that the scope fixes and the body changes: `id` stands for it. */
  readonly renamed?: string
}

/** Rows inside their scopes. */
export function insideOf ({ rows, view }: Scene): Rows {
  return rows.map((all, at) => all.filter((row) => isInside(view[at] as ScopeSpec, row, rows)))
}

export function modelOf ({ world }: Scene, { resource }: Request): ModelSpec {
  return world.models[resource.model] as ModelSpec
}

/** The field that a name of a body means. */
export function fieldNamed ({ fields }: ModelSpec, name: string): FieldSpec | undefined {
  return fields.find((field) => field.name === name || field.key === name)
}

export function storedRow ({ rows }: Scene, { resource, id }: Request): Row | undefined {
  return id === undefined ? undefined : rows[resource.model]?.find((row) => row['id'] === id)
}

/** Translates a request for an app without scopes. What the scope stamps is said, what it fixes cannot be changed. */
export function translate (scene: Scene, asked: Request): Translated {
  if (!Array.isArray(asked.body)) return { asked, request: asked, extra: scene.rows.map(() => []) }
  return asked.method === 'POST' ? translateCreate(scene, asked) : translateUpdate(scene, asked)
}

/** What the server sets in a new record whatever the body says, by key. */
function stamped (scene: Scene, { resource, sender }: Request): ReadonlyMap<string, Value> {
  const fixed = new Map([...fixedBy(scene.view[resource.model] as ScopeSpec)].map(([key, { value }]) => [key, value]))
  if (resource.owner !== undefined) fixed.set(resource.owner.key, sender === 'nobody' ? null : sender + 1)
  return fixed
}

/** The rows outside the scope that a record refers to by these values. */
function outsideRows (scene: Scene, { fields }: ModelSpec, values: ReadonlyMap<string, Value>): Rows {
  const inside = insideOf(scene)
  const outside: Row[][] = scene.rows.map(() => [])
  for (const { key, target = 0, kind } of fields) {
    const value = values.get(key)
    if (kind !== 'foreignKey' || value == null || inside[target]?.some(({ id }) => id === value)) continue
    outside[target]?.push(...(scene.rows[target] ?? []).filter(({ id }) =>
      id === value && outside[target]?.some((other) => other['id'] === id) === false))
  }
  return outside
}

function translateCreate (scene: Scene, asked: Request): Translated {
  const { owner } = asked.resource
  const model = modelOf(scene, asked)
  const given = stamped(scene, asked)
  const extra = outsideRows(scene, model, given)
  const body = (asked.body as Body).filter(([name, value]) => {
    const { key = '', target = -1 } = fieldNamed(model, name) ?? {}
    return given.has(key) || extra[target]?.some(({ id }) => id === value) !== true
  })
  const others = body.filter(([name]) => !given.has(fieldNamed(model, name)?.key ?? ''))
  const stamps = [...given].filter(([key]) => key !== owner?.key)
  return { asked: { ...asked, body }, request: { ...asked, body: [...others, ...stamps] }, extra }
}

function translateUpdate (scene: Scene, asked: Request): Translated {
  const { resource: { owner, model: at } } = asked
  const model = modelOf(scene, asked)
  const stored = storedRow(scene, asked)
  const fixed = fixedBy(scene.view[at] as ScopeSpec)
  const changesFixed = ([name, value]: Body[number]): boolean => {
    const field = fieldNamed(model, name)
    const known = fixed.get(field?.key ?? '')
    return field !== undefined && known !== undefined && field !== owner && isTyped(scene, field, value) &&
      value !== known.value
  }
  // SQLite checks all references of a record, if one that leads to its own table changes.
  const kept = new Map(Object.entries(stored ?? {}).filter(([key]) =>
    !(asked.body as Body).some(([name, value]) => fieldNamed(model, name)?.key === key && value !== stored?.[key])))
  const isSeen = stored !== undefined && isInside(scene.view[at] as ScopeSpec, stored, scene.rows)
  const extra = outsideRows(scene, model, isSeen ? kept : new Map())
  const changing = (asked.body as Body).filter(changesFixed)
  const body = (asked.body as Body).filter((entry) => {
    const { key = '', target = -1 } = fieldNamed(model, entry[0]) ?? {}
    return !changing.slice(1).includes(entry) &&
      (entry[1] === stored?.[key] || extra[target]?.some(({ id }) => id === entry[1]) !== true)
  })
  const [first] = changing
  const translated = body
    .filter(([name, value]) => {
      const field = fieldNamed(model, name)
      return field?.kind !== 'foreignKey' || stored === undefined || value === null || stored[field.key] !== value
    })
    .map((entry) => entry === first ? ['id', unknownKey(model)] as const : entry)
  return {
    asked: { ...asked, body },
    request: { ...asked, body: translated },
    extra,
    ...(first !== undefined && { renamed: first[0] })
  }
}

/** True if a value is one of a field, as far as the bodies of the test go. */
function isTyped ({ world: { models } }: Scene, { kind, nullable, target = 0 }: FieldSpec, value: unknown): boolean {
  if (value === null) return nullable
  if (kind === 'foreignKey') {
    return models[target]?.hasUuidKey === true ? /^[\da-f-]{36}$/.test(String(value)) : Number.isInteger(value)
  }
  if (kind === 'integer') return Number.isInteger(value)
  if (kind === 'boolean') return typeof value === 'boolean'
  return typeof value === 'string' && (kind === 'text' || value !== 'wrong')
}

/** The record as a write would leave it, as far as its body is right. */
export function guess (scene: Scene, asked: Request): Row {
  const model = modelOf(scene, asked)
  const stored = storedRow(scene, asked)
  const before = Object.fromEntries(model.fields.map((field) =>
    [field.key, stored === undefined ? field.default ?? null : stored[field.key] ?? null]))
  const body = (Array.isArray(asked.body) ? asked.body as Body : [])
    .flatMap(([name, value]) => {
      const field = fieldNamed(model, name)
      return field === undefined ? [] : [[field.key, value as Value] as const]
    })
  const given = stored === undefined ? [...stamped(scene, asked)] : []
  return { ...before, ...Object.fromEntries(body), ...Object.fromEntries(given), id: asked.id ?? null }
}

/** What a delete does to all rows, and whether it may be refused because others refer to one that goes. */
export function withoutRow (
  { world: { models }, rows }: Scene, at: number, id: Value
): { readonly rows: Rows, readonly mayBeRefused: boolean } {
  const gone = models.map(() => new Set<Value>())
  let mayBeRefused = false
  const remove = (model: number, id: Value): void => {
    if (gone[model]?.has(id) !== false) return
    gone[model]?.add(id)
    for (const [other, { fields }] of models.entries()) {
      for (const { key, kind, target, onDelete } of fields) {
        if (kind !== 'foreignKey' || target !== model) continue
        for (const row of (rows[other] ?? []).filter((row) => row[key] === id)) {
          if (onDelete === 'cascade') remove(other, row['id'] as Value)
          if (onDelete === 'restrict') mayBeRefused = true
        }
      }
    }
  }
  remove(at, id)
  const left = rows.map((all, model) => all.filter((row) => gone[model]?.has(row['id'] as Value) === false)
    .map((row) => withoutReferences(models[model] as ModelSpec, row, gone)))
  return { rows: left, mayBeRefused }
}

function withoutReferences ({ fields }: ModelSpec, row: Row, gone: ReadonlyArray<ReadonlySet<Value>>): Row {
  const lost = fields.filter(({ key, target }) => target !== undefined && gone[target]?.has(row[key] ?? null) === true)
  return { ...row, ...Object.fromEntries(lost.map(({ key }) => [key, null])) }
}
