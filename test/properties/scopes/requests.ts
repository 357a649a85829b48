import type { Draw } from '../../differential/draw.js'
import { isInside, type World } from './scopes.js'
import {
  keyAt, keyField, plainValue, senders, type FieldSpec, type ModelSpec, type ResourceSpec, type Row, type Rows,
  type ScopeSpec, type Sender, type Value
} from './specs.js'

/** A request to one resource. */
export interface Request {
  readonly resource: ResourceSpec
  readonly sender: Sender
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The key of the record; undefined for the list. */
  readonly id?: Value
  readonly query: string
  /** Names and values of a JSON object, or a text that is none. */
  readonly body?: Body | string
}

export type Body = ReadonlyArray<readonly [name: string, value: unknown]>

/** All rows, and what the sender may see of each model. */
export interface Scene {
  readonly world: World
  readonly rows: Rows
  readonly view: readonly ScopeSpec[]
}

export const urlOf = ({ resource, id, query }: Request): string =>
  `/api/${resource.path}/${id === undefined ? '' : `${String(id)}/`}${query === '' ? '' : `?${query}`}`

export function drawSender (draw: Draw): Sender {
  return draw.weighted([[11, draw.one(senders.slice(0, 3))], [1, 'nobody']])
}

export function drawRequest (draw: Draw, scene: Scene, resource: ResourceSpec, sender: Sender): Request {
  const base = { resource, sender }
  const kind = draw.weighted([[40, 'list'], [10, 'read'], [22, 'create'], [22, 'update'], [6, 'delete']] as const)
  if (kind === 'list') {
    return { ...base, method: draw.chance(3) ? 'HEAD' : 'GET', query: drawQuery(draw, scene, resource) }
  }
  if (kind === 'create') return { ...base, method: 'POST', query: '', body: drawBody(draw, scene, resource, undefined) }
  const row = drawRow(draw, scene, resource.model)
  const id = row?.['id'] ?? unknownKey(scene.world.models[resource.model] as ModelSpec)
  if (kind === 'read') {
    const include = draw.chance(30) ? `include=${drawIncludes(draw, scene.world.models, resource.model).join()}` : ''
    return { ...base, method: draw.chance(10) ? 'HEAD' : 'GET', id, query: draw.chance(3) ? 'a=1' : include }
  }
  if (kind === 'delete') return { ...base, method: 'DELETE', id, query: '' }
  const method = draw.one(['PUT', 'PATCH'] as const)
  return { ...base, method, id, query: '', body: drawBody(draw, scene, resource, row) }
}

export const unknownKey = (model: ModelSpec): number | string => keyAt(model, 999_999)

/** The row at the end of a way through foreign keys, if each of them leads to a record inside its scope. */
function rowBehind ({ rows, view }: Scene, row: Row | undefined, path: readonly FieldSpec[]): Row | undefined {
  let reached = row
  for (const { key, target = 0 } of path) {
    const { [key]: id = null } = reached ?? {}
    reached = rows[target]?.find((other) => other['id'] === id && isInside(view[target] as ScopeSpec, other, rows))
  }
  return reached
}

/** A row: inside the scope more often than outside, or none. */
function drawRow (draw: Draw, { rows, view }: Scene, model: number): Row | undefined {
  const all = rows[model] ?? []
  const inside = all.filter((row) => isInside(view[model] as ScopeSpec, row, rows))
  const outside = all.filter((row) => !inside.includes(row))
  const some = draw.weighted([[16, inside], [6, outside], [1, []]])
  return some.length === 0 ? undefined : draw.one(some)
}

const operators = ['', 'eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'in'] as const

const words = ['a', 'A', 'b', 'a b', 'u1', '%', '']

function drawQuery (draw: Draw, scene: Scene, resource: ResourceSpec): string {
  const { fields } = scene.world.models[resource.model] as ModelSpec
  const parameters = Array.from({ length: draw.weighted([[5, 0], [8, 1], [3, 2], [1, 3]]) }, () =>
    drawFilter(draw, scene, resource.model))
  if (draw.chance(40)) {
    const names = Array.from({ length: draw.number(1, 2) }, () =>
      `${draw.chance(50) ? '-' : ''}${draw.one([keyField(false), ...fields]).name}`)
    parameters.push(['ordering', names.join()])
  }
  if (draw.chance(25)) parameters.push(['include', drawIncludes(draw, scene.world.models, resource.model).join()])
  if (draw.chance(60)) parameters.push(['limit', String(draw.number(1, 4))])
  if (draw.chance(15)) parameters.push(['page', String(draw.number(1, 3))])
  else if (draw.chance(50)) parameters.push(['after', ''])
  if (draw.chance(25)) parameters.push(['count', 'true'])
  if (draw.chance(resource.search.length > 0 ? 12 : 1)) parameters.push(['search', draw.one(words)])
  return parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}

/** Paths of related records: those that there are, and some that there are not. */
export function drawIncludes (draw: Draw, models: readonly ModelSpec[], at: number): readonly string[] {
  return Array.from({ length: draw.weighted([[6, 1], [3, 2], [1, 3]]) }, () => {
    const path: string[] = []
    let model = at
    for (let depth = draw.weighted([[8, 1], [6, 2], [4, 3], [1, 4]]); depth > 0; depth--) {
      const { fields } = models[model] as ModelSpec
      const links = fields.filter(({ kind }) => kind === 'foreignKey')
      const link = draw.one(links.length > 0 && draw.chance(98) ? links : fields)
      path.push(draw.chance(2) ? link.key : link.name)
      model = link.target ?? 0
    }
    return path.join('__')
  })
}

function drawFilter (draw: Draw, scene: Scene, at: number): [name: string, value: string] {
  const { world: { models }, rows } = scene
  const path: FieldSpec[] = []
  let model = at
  const spelled = (field: FieldSpec): string => draw.chance(50) ? field.name : field.key
  for (let depth = draw.weighted([[7, 0], [8, 1], [4, 2], [1, 3]]); depth > 0; depth--) {
    const links = (models[model] as ModelSpec).fields.filter(({ kind }) => kind === 'foreignKey')
    if (links.length === 0) break
    const link = draw.one(links)
    path.push(link)
    model = link.target ?? 0
  }
  const behind = Array.from({ length: 4 }, () => rowBehind(scene, drawRow(draw, scene, at), path))
  const reached = behind.find((row) => row !== undefined)
  const { hasUuidKey, fields } = models[model] as ModelSpec
  const field = draw.chance(20) ? keyField(hasUuidKey) : draw.one(fields)
  const operator = draw.weighted<string>([
    [14, draw.one(operators)], [2, 'is'], [1, 'nothing'], ...field.kind === 'text' ? [[5, 'like'] as const] : []
  ])
  const last = draw.chance(2) ? 'nothing' : spelled(field)
  const name = [...path.map(spelled), last, ...operator === '' ? [] : [operator]].join('__')
  if (operator === 'is') return [name, draw.one(['null', 'notnull'])]
  if (operator === 'like') return [name, draw.one(['%', 'a%', '_', '%b'])]
  const known = (rows[model] ?? []).map((row) => row[field.key] ?? null).filter((value) => value !== null)
  const item = (): string => String(draw.chance(65) ? reached?.[field.key] ?? 1 : draw.one([...known, 1]))
  return [name, operator === 'in' ? Array.from({ length: draw.number(1, 4) }, item).join() : item()]
}

/** The body of a write: that of a record that may be seen, more often than not, with other values here and there. */
function drawBody (draw: Draw, scene: Scene, { model, owner }: ResourceSpec, stored: Row | undefined): Body | string {
  if (draw.chance(2)) return draw.one(['[]', 'null', '{', '"a"'])
  const { fields } = scene.world.models[model] as ModelSpec
  const pattern = drawRow(draw, scene, model)
  const isCreate = stored === undefined
  const body = fields.filter((field) => field !== owner || draw.chance(20))
    .filter(() => draw.chance(isCreate ? 88 : 40))
    .map((field) => {
      const name = draw.chance(50) ? field.name : field.key
      const before = draw.chance(30) ? stored?.[field.key] : undefined
      const like = isCreate || draw.chance(50) ? pattern : undefined
      return [name, before ?? writtenValue(draw, scene, field, like)] as const
    })
  return draw.chance(3) ? [...body, [draw.one(['nothing', 'toString']), 1]] : body
}

function writtenValue (draw: Draw, scene: Scene, field: FieldSpec, pattern: Row | undefined): unknown {
  const { world: { models }, rows } = scene
  if (draw.chance(3)) return draw.one(['wrong', -1.5, {}, [1]])
  if (draw.chance(field.nullable ? 15 : 2)) return null
  if (field.kind !== 'foreignKey') {
    const isOther = field.unique ? draw.chance(85) : draw.chance(35)
    return isOther ? plainValue(draw, field) : pattern?.[field.key] ?? plainValue(draw, field)
  }
  const { target = 0 } = field
  if (draw.chance(35) && pattern?.[field.key] != null) return pattern[field.key]
  if (draw.chance(8)) return unknownKey(models[target] as ModelSpec)
  const inside = (rows[target] ?? []).filter((row) => isInside(scene.view[target] as ScopeSpec, row, rows))
  const some = inside.length > 0 && draw.chance(75) ? inside : rows[target] ?? []
  return some.length === 0 ? 1 : draw.one(some)['id']
}
