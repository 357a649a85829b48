import type { Json } from '../../lib/index.js'
import type { Draw } from './draw.js'
import { accounts, textKeys, type Row } from './rows.js'
import { isOptional, keyOf, takesOwnKeys, whole, type FieldSpec, type ModelSpec } from './specs.js'
import { canonical, filterTexts, oddTexts, oddValues, spellings } from './values.js'

/** A record whose key is known when the request is sent: a row that was there, or, below 0, one that was created. */
export interface Reference {
  readonly model: number
  readonly at: number
  /** Writes the key in quotes, as an item of a list. */
  readonly isQuoted?: boolean
}

/** A text in which references stand for keys. */
export type Template = ReadonlyArray<string | Reference>

/** Who sends a request: an account, or somebody who gets in nowhere. */
export type Sender = (typeof accounts)[number] | 'nobody' | 'stranger' | 'impostor' | 'garbled'

export interface Request {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS'
  readonly model: number
  /** Behind the path of the resource. */
  readonly path: Template
  /** Names and values of parameters, not yet encoded; or a query that is no proper one. */
  readonly query: ReadonlyArray<readonly [name: string, value: Template]> | string
  readonly sender: Sender
  readonly headers: Readonly<Record<string, string>>
  /** The header `If-Match`, in which `known` stands for the tag that was last seen at the path. */
  readonly ifMatch?: string
  /** Names and values of a JSON object, or any text. */
  readonly body?: ReadonlyArray<readonly [name: string, value: unknown]> | string
  /** Sends the body as the field `data` of a form. */
  readonly isForm?: boolean
}

/** All that requests are made of. */
interface World {
  readonly models: readonly ModelSpec[]
  readonly rows: ReadonlyArray<readonly Row[]>
}

export const isReference = (value: unknown): value is Reference =>
  typeof value === 'object' && value !== null && 'model' in value && 'at' in value

/** A request that may well be answered, or not. */
export function drawRequest (draw: Draw, world: World): Request {
  const model = draw.chance(25) ? whole : draw.number(0, world.models.length - 1)
  return draw.weighted([[46, list], [8, read], [24, create], [14, update], [7, remove], [3, odd]] as const)(
    draw, world, model
  )
}

/** Every record of a resource, for whoever may see the most. */
export function listAll (model: number): Request {
  return { method: 'GET', model, path: ['/'], query: [['limit', ['100']]], sender: 'admin', headers: {} }
}

const common = (
  draw: Draw, world: World, model: number, isWrite: boolean
): Pick<Request, 'model' | 'query' | 'sender' | 'headers'> =>
  ({
    model,
    query: [],
    sender: senderOf(draw, world.models[model] as ModelSpec, isWrite),
    headers: draw.chance(2) ? draw.one(oddHeaders) : {}
  })

const oddHeaders: ReadonlyArray<Readonly<Record<string, string>>> = [
  { origin: 'https://example.com' }, { 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-origin' },
  { accept: 'text/html' }, { 'accept-encoding': 'gzip' }, { 'if-none-match': '*' }
]

/** The header `If-Match` of some writes. Most resources have tags. */
const condition = (draw: Draw): Pick<Request, 'ifMatch'> => draw.chance(8)
  ? { ifMatch: draw.weighted([[6, 'known'], [2, '*'], [1, '"x"'], [1, 'W/known'], [1, '"x", known'], [1, 'x']]) }
  : {}

function senderOf (draw: Draw, { policy, owner }: ModelSpec, isWrite: boolean): Sender {
  if (draw.chance(10)) return draw.one<Sender>(['nobody', 'carol', 'stranger', 'impostor', 'garbled'])
  if (policy === 'admin') return draw.weighted<Sender>([[8, 'admin'], [2, 'alice']])
  if (policy === 'userAll' || isWrite) {
    return owner === undefined
      ? draw.one<Sender>(['admin', 'alice', 'bob'])
      : draw.one<Sender>(['alice', 'bob', 'alice', 'bob', 'admin'])
  }
  return draw.weighted<Sender>([[8, 'nobody'], [1, 'alice'], [1, 'admin']])
}

function list (draw: Draw, world: World, model: number): Request {
  const request: Request = {
    ...common(draw, world, model, false), method: draw.chance(3) ? 'HEAD' : 'GET', path: [draw.chance(5) ? '' : '/']
  }
  if (draw.chance(4)) return { ...request, query: draw.one(oddQueries) }
  const filters =
    Array.from({ length: draw.weighted([[3, 0], [6, 1], [3, 2], [1, 3]]) }, () => filter(draw, world, model))
  const repeated = filters.length > 0 && draw.chance(8) ? [draw.one(filters)] : []
  const others = [...search(draw, world, model), ...paging(draw), ...count(draw)]
  const parts = [...ordering(draw, world, model), ...filters, ...repeated, ...others]
  return { ...request, query: draw.chance(20) ? [...parts, include(draw, world, model)] : parts }
}

const oddQueries = [
  '%', '%FF', '%C3%28', '&&&', '=', '=1', 'id', 'id=', 'id=1=2', 'id=1&id', 'ID=1', '%00=1', 'limit', 'limit=',
  'limit=10&limit=10', 'page=1&page=1', 'ordering=id&ordering=id', 'ordering', 'id__eq__eq=1', 'id__=1', '__id=1',
  'id__nothing=1', 'nothing=1', 'id[]=1', 'id%20=1', '+id=1', 'id=1#x', 'id=1;id=2', '?id=1', `x=${'1'.repeat(8192)}`,
  Array.from({ length: 21 }, () => 'id=1').join('&'), 'id__in=1,2', 'id__like=1', 'id__is=null', 'id__is=NONE',
  'id__is=true', 'count=true&count=true', 'count', 'count=1', 'search', 'search=a&search=b', 'search=+%20+',
  'ordering=-id,id', 'ordering=,', 'ordering=id,,id', 'ordering=--id', 'ordering=id%20',
  'include=user&include=', 'include=nothing', 'include=,', 'include=user_id',
  `include=${Array.from({ length: 500 }, () => 'user').join()}`
]

function paging (draw: Draw): Array<readonly [string, Template]> {
  const limit = draw.weighted([
    [14, ['1', '2', '3', '5', '7']], [1, ['20', '100']],
    [1, ['0', '101', '-1', '1.0', '01', '', 'x', '1e1', '9'.repeat(15), '9'.repeat(16)]]
  ] as const)
  const page = draw.weighted([
    [10, ['1', '1', '2', '3']], [2, ['4', '50', '100', '1000']],
    [1, ['0', '-1', '', '1.5', '100001', '100002', '9'.repeat(15), '9'.repeat(16), 'x']]
  ] as const)
  return [
    ...draw.chance(35) ? [['limit', [draw.one(limit)]] as const] : [],
    ...draw.chance(25) ? [['page', [draw.one(page)]] as const] : []
  ]
}

function count (draw: Draw): Array<readonly [string, Template]> {
  if (!draw.chance(15)) return []
  return [['count', [draw.weighted([[12, 'true'], [1, draw.one(['TRUE', 'false', '', '1'])]])]]]
}

/** Words that rows have, or parts of them, that mean the same on every engine. */
function search (draw: Draw, world: World, model: number): Array<readonly [string, Template]> {
  const { search: names, fields } = world.models[model] as ModelSpec
  if (!draw.chance(names.length > 0 ? 20 : 2)) return []
  const searched = fields.filter(({ name }) => names.includes(name))
  const words = Array.from({ length: draw.weighted([[1, 0], [8, 1], [4, 2], [1, 5], [1, 6]]) }, () => {
    if (searched.length === 0 || draw.chance(15)) return draw.one(['a', '%', '_', '\\', '*', 'null', 'x'.repeat(129)])
    const text = withoutCases(String(plainText(draw, world, { model, field: draw.one(searched), operator: 'search' })))
    const start = draw.number(0, text.length)
    return text.slice(start, start + draw.number(1, 4)).toWellFormed()
  })
  return [['search', [words.join(draw.one([' ', ' ', '  ', '\t', '\u3000']))]]]
}

const key: FieldSpec = { name: 'id', kind: 'integer', options: {} }

/** The fields that a client is likely to be let name. */
const openFields = (draw: Draw, { fields, exclude }: ModelSpec): readonly FieldSpec[] =>
  fields.filter(({ name, kind }) => draw.chance(5) || (kind !== 'password' && !exclude.includes(name)))

function ordering (draw: Draw, { models }: World, model: number): Array<readonly [string, Template]> {
  if (!draw.chance(45)) return []
  const fields = [
    key, ...openFields(draw, models[model] as ModelSpec).filter(({ kind }) => kind !== 'json' || draw.chance(5))
  ]
  const written = Array.from({ length: draw.weighted([[5, 1], [3, 2], [1, 3]]) }, () =>
    `${draw.chance(45) ? '-' : ''}${spelled(draw, draw.one(fields))}`)
  return [['ordering', [
    draw.chance(3) ? draw.one(['', 'nothing', 'user__id', 'ID', 'rowid', '1', 'id desc']) : written.join(',')
  ]]]
}

const spelled = (draw: Draw, field: FieldSpec): string => draw.chance(50) ? field.name : keyOf(field)

const comparing = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'] as const

/** Paths of related records, some of which lead nowhere. */
function include (draw: Draw, { models }: World, model: number): readonly [string, Template] {
  const paths = Array.from({ length: draw.weighted([[5, 1], [3, 2], [1, 3], [1, 0]]) }, () => {
    const names: string[] = []
    let reached = model
    for (let depth = 0; depth < 4 && draw.chance(names.length === 0 ? 97 : 50); depth++) {
      const links = openFields(draw, models[reached] as ModelSpec).filter(({ kind }) => kind === 'foreignKey')
      const link = links.length === 0 ? undefined : draw.one(links)
      names.push(link === undefined ? 'nothing' : draw.chance(3) ? keyOf(link) : link.name)
      reached = link?.target ?? 0
    }
    return names.join('__')
  })
  return ['include', [paths.join()]]
}

function filter (draw: Draw, world: World, model: number): readonly [string, Template] {
  const names: string[] = []
  let reached = model
  for (let depth = 0; depth < 4 && draw.chance(names.length === 0 ? 35 : 40); depth++) {
    const links = openFields(draw, world.models[reached] as ModelSpec).filter(({ kind }) => kind === 'foreignKey')
    if (links.length === 0) break
    const link = draw.one(links)
    names.push(spelled(draw, link))
    reached = link.target ?? 0
  }
  const field = draw.weighted([[1, key], [4, undefined]]) ??
    draw.one([key, ...openFields(draw, world.models[reached] as ModelSpec)])
  const isPlain = field.kind === 'text' || draw.chance(4)
  const operator = draw.chance(2)
    ? draw.one(['', 'nothing', 'EQ', 'contains'])
    : draw.weighted([[8, draw.one(comparing)], [1, 'is'], ...isPlain ? [[3, 'like'], [3, 'ilike']] as const : []])
  const value = operandOf(draw, world, { model: reached, field, operator })
  return [[...names, spelled(draw, field), ...operator === 'eq' && draw.chance(60) ? [] : [operator]].join('__'), value]
}

interface Operand { readonly model: number, readonly field: FieldSpec, readonly operator: string }

function operandOf (draw: Draw, world: World, operand: Operand): Template {
  const { operator } = operand
  if (operator === 'is') return [draw.one(['null', 'NULL', 'none', 'notnull', 'NotNull', 'true', 'False', '1', ''])]
  if (operator === 'like' || operator === 'ilike') {
    return [pattern(draw, String(plainText(draw, world, operand)), operator)]
  }
  if (operator !== 'in') return itemOf(draw, world, operand)
  return Array.from({ length: draw.weighted([[1, 0], [2, 1], [4, 2], [2, 4]]) }, () => itemOf(draw, world, operand))
    .flatMap((item, index) => [
      ...index === 0 ? [] : [','],
      ...item.map((part) => {
        if (typeof part !== 'string') return { ...part, isQuoted: draw.chance(95) }
        return /^"|,|^$/.test(part) || draw.chance(10) ? `"${part.replaceAll('"', '""')}"` : part
      })
    ])
}

function itemOf (draw: Draw, world: World, operand: Operand): Template {
  const { model, field: { kind, target = 0, name } } = operand
  if (draw.chance(6)) return [draw.one(oddTexts)]
  if (name === 'id') return [drawReference(draw, world, model)]
  return kind === 'foreignKey' ? [drawReference(draw, world, target)] : [plainText(draw, world, operand)]
}

/** A text for a field: one that a row has, more often than not. */
function plainText (draw: Draw, { rows }: World, { model, field }: Operand): string {
  if (field.name === 'id' || field.kind === 'foreignKey' || field.kind === 'password') {
    return draw.one(['1', '2', '0', '-1', '999', 'a'])
  }
  const there = (rows[model] ?? []).map((row) => row[field.name] ?? null).filter((value) => value !== null)
  const value = there.length > 0 && draw.chance(65) ? draw.one(there) : draw.any(canonical(field))
  return draw.one(filterTexts(field, value))
}

/** A pattern made of a text that it may match. */
function pattern (draw: Draw, text: string, operator: 'like' | 'ilike'): string {
  const characters = [...text].map((character) => draw.weighted([
    [8, /[%_\\]/.test(character) ? `\\${character}` : character], [1, '%'], [1, '_'], [1, ''],
    [1, /^[a-z]$/i.test(character) ? swapped(character) : character], [1, `\\${character}`]
  ]))
  const whole =
    [draw.weighted([[3, ''], [2, '%'], [1, '_']]), ...characters, draw.weighted([[3, ''], [2, '%'], [1, '_']])].join('')
  return operator === 'like' ? whole : withoutCases(whole)
}

/**
 * A pattern of `ilike` that means the same on every engine: it ignores the case of ASCII letters everywhere, but that
 * of others only where the engine knows of it (D-24). Two of those become k and i.
 */
function withoutCases (pattern: string): string {
  return pattern.replace(/[kKiI]|\P{ASCII}/gu, (character) =>
    character.toLowerCase() === character.toUpperCase() ? character : 'a')
}

const swapped = (letter: string): string =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()

function drawReference (draw: Draw, { rows }: World, model: number): Reference {
  const count = rows[model]?.length ?? 0
  return {
    model, at: draw.weighted([[13, draw.number(0, Math.max(0, count - 1))], [3, -draw.number(1, 6)], [1, 1000]])
  }
}

const oddKeys = [
  '0', '-1', '-0', '+1', '01', '1.0', '1e0', '%31', '1%20', '%201', '9007199254740991', '9007199254740992',
  '9223372036854775807', '9223372036854775808', 'a', '1a', "1'", '1;', '1,2', '%00', '%', 'null', 'x'.repeat(101),
  '00000000-0000-0000-0000-000000000000', '00000000000000000000000000000000', 'g0000000-0000-0000-0000-000000000000',
  '{05f3a9c7-0000-4000-a000-000000000000}', '..', '.'
]

/** The path of one record. */
function recordPath (draw: Draw, world: World, model: number): Template {
  const slash = draw.chance(5) ? '' : '/'
  return draw.chance(7) ? ['/', draw.one(oddKeys), slash] : ['/', drawReference(draw, world, model), slash]
}

function read (draw: Draw, world: World, model: number): Request {
  const query = draw.chance(4)
    ? draw.one(['x=1', 'id=1', '%', '&', '', 'include=x', 'include=&x'])
    : draw.chance(20) ? [include(draw, world, model)] : []
  return {
    ...common(draw, world, model, false),
    method: draw.chance(10) ? 'HEAD' : 'GET',
    path: recordPath(draw, world, model),
    query
  }
}

function remove (draw: Draw, world: World, model: number): Request {
  return {
    ...common(draw, world, model, true),
    ...condition(draw),
    method: 'DELETE',
    path: recordPath(draw, world, model)
  }
}

function create (draw: Draw, world: World, model: number): Request {
  const { fields } = world.models[model] as ModelSpec
  const named = fields.filter((field) => isWritten(draw, world, model, field) &&
    draw.chance(isOptional(field) ? 60 : 97))
  return {
    ...common(draw, world, model, true),
    method: 'POST',
    path: [draw.chance(4) ? '' : '/'],
    ...withOwnKey(draw, world, model, drawBody(draw, world, model, named))
  }
}

/** Adds a key to the body, if the model takes keys of clients: a new one, or now and then one that is taken. */
function withOwnKey (draw: Draw, { models }: World, model: number, drawn: DrawnBody): DrawnBody {
  const { body } = drawn
  const spec = models[model] as ModelSpec
  const isNeeded = spec.key === 'text'
  if (!takesOwnKeys(spec) || body === undefined || typeof body === 'string' || draw.chance(isNeeded ? 3 : 60)) {
    return drawn
  }
  if (isNeeded) {
    const key = draw.chance(90) ? draw.one([...textKeys, ...freshKeys]) : draw.one(oddValues)
    return { ...drawn, body: [['id', key], ...body] }
  }
  const key = draw.chance(15)
    ? { model, at: 0 }
    : draw.one<Json>(spellings(ownKey, draw.any(canonical(ownKey))))
  return { ...drawn, body: [...body, ['id', key]] }
}

const freshKeys = [
  ...Array.from({ length: 30 }, (_, index) => `new ${index}`), 'NEW 1', 'n\u00e9w', '..', '...', 'x'.repeat(100),
  'x'.repeat(101), '\u{1f600}'.repeat(100)
]
const ownKey: FieldSpec = { name: 'id', kind: 'uuid', options: {} }

function update (draw: Draw, world: World, model: number): Request {
  const { fields, keyFields } = world.models[model] as ModelSpec
  const named = draw.some(fields.filter((field) => isWritten(draw, world, model, field) &&
    field.kind !== 'password' && (draw.chance(4) || !keyFields.includes(field.name))), 45)
  return {
    ...common(draw, world, model, true),
    ...condition(draw),
    method: draw.one(['PUT', 'PATCH'] as const),
    path: recordPath(draw, world, model),
    ...drawBody(draw, world, model, named)
  }
}

/** Whether a client that knows its way writes a field. */
function isWritten (draw: Draw, { models }: World, model: number, { name, options }: FieldSpec): boolean {
  const { readOnly, owner } = models[model] as ModelSpec
  return draw.chance(4) || (!readOnly.includes(name) && owner !== name && options.onUpdate === undefined)
}

const oddBodies = [
  '', 'null', '[]', '{}', '{', '"a"', '1', '{"a":1,"a":2}', '{"__proto__":{}}', '{"constructor":{"prototype":{}}}',
  '\ufeff{}', '{"id":1}', '{"id":null}', 'data={}', '{"\\u0000":1}', ' {} ', '{"a":1e400}',
  `{"a":${'['.repeat(100)}${']'.repeat(100)}}`
]
const oddNames = ['id', 'ID', 'nothing', '', 'toString', '__id', 'hasOwnProperty', 'titel']
const contentTypes = [
  'application/json', 'application/json; charset=utf-8', 'text/plain', 'application/x-www-form-urlencoded',
  'APPLICATION/JSON', 'x'
]

type DrawnBody = Pick<Request, 'body' | 'headers' | 'isForm'>

function drawBody (
  draw: Draw, world: World, model: number, fields: readonly FieldSpec[]
): DrawnBody {
  const headers: Record<string, string> = draw.chance(5)
    ? { 'content-type': draw.one(contentTypes) }
    : { 'content-type': 'application/json' }
  if (draw.chance(3)) return { headers, body: draw.one(oddBodies) }
  const taken = takenTogether(draw, world, model)
  const entries = fields.map((field) =>
    [spelled(draw, field), taken[field.name] ?? bodyValue(draw, world, model, field)] as const)
  const more = draw.chance(4) ? [[draw.one(oddNames), draw.one([1, null, 'a', { model, at: 0 }])] as const] : []
  const isForm = draw.chance(5)
  return {
    headers: isForm ? { 'content-type': 'application/x-www-form-urlencoded' } : headers,
    isForm,
    body: [...entries, ...more]
  }
}

/** What a row has in fields that are unique together, now and then. */
function takenTogether (draw: Draw, { models, rows }: World, model: number): Readonly<Record<string, unknown>> {
  const { fields = [], unique = [], keyFields = [] } = models[model] ?? {}
  const [names] = keyFields.length > 0 ? [keyFields] : unique
  if (names === undefined || !draw.chance(12)) return {}
  const row = draw.one(rows[model] ?? [{}])
  return Object.fromEntries(fields.filter(({ name }) => names.includes(name)).map(({ name, kind, target = 0 }) => {
    const value = row?.[name] ?? null
    return [name, kind === 'foreignKey' && value !== null ? { model: target, at: value } : value]
  }))
}

function bodyValue (draw: Draw, world: World, model: number, field: FieldSpec): unknown {
  if (draw.chance(3)) return draw.one(oddValues)
  if (field.options.nullable === true && draw.chance(15)) return null
  if (field.kind === 'password') return draw.one(['secret', 'a', 'é\u{1f600}'])
  if (field.kind === 'foreignKey') {
    return draw.chance(6) ? { model: field.target ?? 0, at: 1000 } : drawReference(draw, world, field.target ?? 0)
  }
  const taken = field.options.unique === true && draw.chance(12)
    ? draw.one(world.rows[model] ?? [])?.[field.name] ?? null
    : null
  if (taken !== null) return taken
  return draw.one<Json>(spellings(field, draw.any(canonical(field))))
}

/** A request of a form that there is not. */
function odd (draw: Draw, world: World, model: number): Request {
  const method = draw.one(['PATCH', 'OPTIONS', 'PUT', 'DELETE', 'POST', 'GET', 'HEAD'] as const)
  const path = draw.one<Template>([
    ['/'], [''], ['/1/'], ['/1/2/'], ['//'], ['/%2f/'], ['x/'], ['/', { model, at: 0 }, '/x'], ['/?'],
    ['/', { model, at: 0 }, '//'], ['/;id=1']
  ])
  return {
    ...common(draw, world, model, draw.chance(50)),
    method,
    path,
    ...(method === 'POST' || method === 'PUT' || method === 'PATCH') && { body: '{}' }
  }
}
