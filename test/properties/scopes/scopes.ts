import type { Draw } from '../../differential/draw.js'
import {
  keyAt, keyField, plainValue, senders, type Condition, type FieldSpec, type ModelSpec, type PolicyName,
  type ResourceSpec, type Row, type Rows, type ScopeSpec, type Sender, type Value
} from './specs.js'

/** Random models, their resources and the rows that there are. */
export interface World {
  readonly models: readonly ModelSpec[]
  readonly resources: readonly ResourceSpec[]
}

/** True if a row meets all conditions of a scope. All rows are looked at, seen or not. */
export function isInside (scope: ScopeSpec, row: Row, rows: Rows): boolean {
  return scope?.every((condition) => holds(condition, row, rows)) === true
}

function holds ({ path, field, operator, value }: Condition, row: Row, rows: Rows): boolean {
  let reached: Row | undefined = row
  for (const { key, target = 0 } of path) {
    const id: Value = reached?.[key] ?? null
    reached = id === null ? undefined : rows[target]?.find((other) => other['id'] === id)
  }
  if (reached === undefined) return false
  const stored = reached[field.key] ?? null
  if (operator === 'is' && value === 'notnull') return stored !== null
  if (operator === 'is' || value === null) return stored === value
  if (stored === null) return false
  const values = (Array.isArray(value) ? value : [value]) as readonly Value[]
  const matches = (other: Value): boolean => compare(field, operator, stored, other)
  return operator === 'ne' ? !values.some((other) => stored === other) : values.some(matches)
}

function compare ({ kind }: FieldSpec, operator: string, stored: Value, value: Value): boolean {
  if (operator === 'like' || operator === 'ilike') return patternOf(String(value), operator).test(String(stored))
  if (!/^[lg]te?$/.test(operator)) return stored === value
  const [left, right] = kind === 'decimal' || typeof stored !== 'string'
    ? [Number(stored), Number(value)]
    : [stored, value as string]
  if (left === right) return operator.endsWith('e')
  return operator.startsWith('l') ? left < right : left > right
}

/** The patterns of scopes are letters, `%` and `_`. */
function patternOf (pattern: string, operator: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('%', '.*').replaceAll('_', '.')}$`, operator === 'ilike' ? 'isu' : 'su')
}

/** The values that a scope fixes, by key: the first condition that permits one value only of a field of its own. */
export function fixedBy (scope: ScopeSpec): ReadonlyMap<string, { readonly field: FieldSpec, readonly value: Value }> {
  const fixed = new Map<string, { readonly field: FieldSpec, readonly value: Value }>()
  for (const { path, field, operator, value } of scope ?? []) {
    if (path.length > 0 || field.key === 'id' || !['', 'eq', 'in', 'is'].includes(operator)) continue
    const values = (Array.isArray(value) ? value : [value]) as readonly Value[]
    const [first = null] = values
    const isAny = operator === 'is' && first === 'notnull'
    const isOne = values.length === 1 && !isAny && (first !== null || field.nullable)
    if (isOne && !fixed.has(field.key)) fixed.set(field.key, { field, value: first })
  }
  return fixed
}

/** The object that the function `scope` returns. */
export function toObject (scope: ScopeSpec): Record<string, unknown> | null {
  return scope && Object.fromEntries(scope.map(({ name, value }) => [name, value]))
}

/** Resources of all models, some of them two, and their scopes for each user. */
export function drawResources (draw: Draw, models: readonly ModelSpec[], rows: Rows): readonly ResourceSpec[] {
  const firsts = models.map((_model, at) => drawResource(draw, models, { at, path: pathOf(models, at), rows }))
  const seconds = [...models.keys()].filter((at) => !isInCircle(models, at) && draw.chance(35))
    .map((at) => drawResource(draw, models, { at, path: `${pathOf(models, at)}-again`, rows }))
  return [...firsts, ...seconds]
}

const pathOf = (models: readonly ModelSpec[], at: number): string => (models[at] as ModelSpec).name.toLowerCase()

/** True if foreign keys lead from a model back to it. What is seen there is not what its second resource shows. */
function isInCircle (models: readonly ModelSpec[], at: number): boolean {
  const reached = new Set<number>()
  const follow = (from: number): void => {
    for (const { target } of models[from]?.fields ?? []) {
      if (target === undefined || reached.has(target)) continue
      reached.add(target)
      follow(target)
    }
  }
  follow(at)
  return reached.has(at)
}

interface Place { readonly at: number, readonly path: string, readonly rows: Rows }

function drawResource (draw: Draw, models: readonly ModelSpec[], place: Place): ResourceSpec {
  const { at, path } = place
  const { fields } = models[at] as ModelSpec
  const policy = draw.weighted<PolicyName>([[5, 'all'], [4, 'writes'], [2, 'foreign'], [1, 'open']])
  const hideable = fields.filter(({ kind }) => kind !== 'foreignKey')
  const owners = fields.filter(({ kind, target = 0 }) => kind === 'foreignKey' && models[target]?.hasUuidKey === false)
  const exclude = draw.chance(25) ? [draw.one(hideable).name] : []
  return {
    path,
    model: at,
    policy,
    exclude,
    search: fields.filter(({ kind, name }) => kind === 'text' && !exclude.includes(name)).map(({ name }) => name),
    owner: policy !== 'open' && owners.length > 0 && draw.chance(20) ? draw.one(owners) : undefined,
    scopes: draw.chance(12) ? undefined : new Map(senders.map((sender) => [sender, drawScope(draw, models, place)]))
  }
}

/** A scope that splits the rows, more often than not. */
function drawScope (draw: Draw, models: readonly ModelSpec[], { at, rows }: Place): ScopeSpec {
  const own = rows[at] ?? []
  let scope: ScopeSpec = []
  for (let attempt = 0; attempt < 6; attempt++) {
    const count = draw.weighted([[5, 1], [3, 2], [1, 3]])
    scope = draw.weighted([[1, true], [14, false]])
      ? null
      : draw.weighted([[1, true], [8, false]])
        ? []
        : distinct(Array.from({ length: count }, () => drawCondition(draw, models, { at, rows })))
    const seen = own.filter((row) => isInside(scope, row, rows)).length
    if ((seen * 3 >= own.length && seen < own.length) || draw.chance(8)) break
  }
  return scope
}

function distinct (conditions: readonly Condition[]): readonly Condition[] {
  return conditions.filter(({ name }, index) => conditions.findIndex((other) => other.name === name) === index)
}

const numbers = ['lt', 'lte', 'gt', 'gte', 'ne', 'in', 'eq', ''] as const
const patterns = ['a%', '%b', '_', '%', 'A%', 'u1%', '%a%']

function drawCondition (
  draw: Draw, models: readonly ModelSpec[], { at, rows }: Pick<Place, 'at' | 'rows'>
): Condition {
  const path: FieldSpec[] = []
  let model = at
  for (let depth = draw.weighted([[10, 0], [6, 1], [4, 2], [1, 3]]); depth > 0; depth--) {
    const links = (models[model] as ModelSpec).fields.filter(({ kind }) => kind === 'foreignKey')
    if (links.length === 0) break
    const link = draw.one(links)
    path.push(link)
    model = link.target ?? 0
  }
  const { hasUuidKey, fields } = models[model] as ModelSpec
  const field = draw.chance(10) ? keyField(hasUuidKey) : draw.one(fields)
  const operator = draw.weighted<string>([
    [9, ''], [2, 'eq'], [3, 'in'], [6, draw.one(numbers)], [2, 'is'],
    ...field.kind === 'text' ? [[4, draw.one(['like', 'ilike'])] as const] : []
  ])
  const spelled = (link: FieldSpec): string => draw.chance(50) ? link.name : link.key
  const name = [...path.map(spelled), spelled(field), ...operator === '' ? [] : [operator]].join('__')
  return { name, path, field, operator, value: operandOf(draw, models, { model, rows, field, operator }) }
}

interface Operand {
  readonly model: number, readonly rows: Rows, readonly field: FieldSpec, readonly operator: string
}

function operandOf (draw: Draw, models: readonly ModelSpec[], operand: Operand): Condition['value'] {
  const { field, operator } = operand
  if (operator === 'is') return draw.one([null, 'notnull', ...field.kind === 'boolean' ? [true, false] : []])
  if (operator === '' && draw.chance(12)) return null
  const some = (least: number): Value[] =>
    Array.from({ length: draw.number(least, 3) }, () => itemOf(draw, models, operand))
  if (operator === 'in') return some(draw.chance(8) ? 0 : 1)
  if (operator === 'like' || operator === 'ilike') return draw.one(patterns)
  if (draw.chance(30)) return some(operator === '' && draw.chance(10) ? 0 : 1)
  return itemOf(draw, models, operand)
}

/** A value that some row has, or any. */
function itemOf (draw: Draw, models: readonly ModelSpec[], { model, rows, field }: Operand): Value {
  const known = (rows[model] ?? []).map((row) => row[field.key] ?? null).filter((value) => value !== null)
  if (known.length > 0 && draw.chance(85)) return draw.one(known)
  if (field.kind === 'id') return keyAt(models[model] as ModelSpec, draw.number(1, 12))
  if (field.kind === 'foreignKey') return keyAt(models[field.target ?? 0] as ModelSpec, draw.number(1, 12))
  return plainValue(draw, field)
}

/** The user whom an operation of a resource knows. */
export function userOf ({ policy, scopes }: ResourceSpec, sender: Sender, isRead: boolean): Sender {
  if (policy === 'open') return 'nobody'
  // Without a scope, nobody asks who reads what everybody may read.
  return policy === 'writes' && isRead && scopes === undefined ? 'nobody' : sender
}

/** What a user may see of each model, in a request to a resource: its own, and the first one of each other model. */
export function viewOf ({ models, resources }: World, resource: ResourceSpec, user: Sender): readonly ScopeSpec[] {
  return models.map((_model, at) => {
    const rule = at === resource.model ? resource : resources[at] as ResourceSpec
    const isForeign = (rule.policy === 'foreign') !== (resource.policy === 'foreign')
    const known = rule === resource || (!isForeign && rule.policy !== 'open') ? user : 'nobody'
    if (rule.scopes === undefined) return []
    const isClosed = rule.policy === 'all' || rule.policy === 'foreign'
    return known === 'nobody' && isClosed ? null : rule.scopes.get(known) ?? null
  })
}
