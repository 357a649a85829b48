import fc from 'fast-check'
import {
  bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, number, password, text, uuid,
  type Field, type ForeignKeyField, type Json, type Model
} from '../../lib/index.js'
import { maxKeyLength, type FieldOptions } from '../../lib/values/field-options.js'
import { canonical } from './values.js'

/** The kinds of fields that random models have. */
export const kinds = [
  'text', 'integer', 'bigint', 'number', 'decimal', 'boolean', 'datetime', 'date', 'json', 'uuid'
] as const
export type Kind = (typeof kinds)[number]

/** A field of a random model, as plain data. */
export interface FieldSpec {
  readonly name: string
  readonly kind: Kind | 'foreignKey' | 'password'
  readonly options: FieldOptions
  /** The number of the model that a foreign key refers to. */
  readonly target?: number
}

/** Who may do what with a resource. */
export const policies = ['anybody', 'user', 'userAll', 'admin', 'readOnly'] as const
export type PolicyName = (typeof policies)[number]

/** The kinds of primary keys. */
export const keyNames = ['integer', 'uuid', 'text', 'fields'] as const
export type KeyName = (typeof keyNames)[number]

export interface ModelSpec {
  readonly name: string
  readonly table: string
  readonly key: KeyName
  /** Names of the fields of a key of several columns; none for any other. */
  readonly keyFields: readonly string[]
  readonly fields: readonly FieldSpec[]
  /** Names of fields that are unique together. */
  readonly unique: ReadonlyArray<readonly string[]>
  readonly policy: PolicyName
  /** Names of fields, by the options of a resource. */
  readonly exclude: readonly string[]
  readonly readOnly: readonly string[]
  readonly filterable: readonly string[]
  /** Names of the text fields that searches look at; none if the resource has no searches. */
  readonly search: readonly string[]
  readonly owner?: string
  readonly defaultLimit: number
  readonly maxLimit: number
}

/** The number of the model whose records log in. */
export const users = 0
/** The number of the model that has a field of every kind. */
export const whole = 1

/** Whether creates may bring their own keys. */
export const takesOwnKeys = ({ key, fields }: Pick<ModelSpec, 'key' | 'fields'>): boolean =>
  key === 'text' || (key === 'uuid' && fields.length % 2 === 0)

/** Whether a field may be left out of a create. */
export const isOptional = ({ kind, options }: FieldSpec): boolean =>
  kind !== 'password' && (options.nullable === true || options.default !== undefined)

/** The key of a field in JSON. */
export const keyOf = ({ kind, name }: FieldSpec): string => kind === 'foreignKey' ? `${name}_id` : name

/** The column of a field. */
export const columnOf = (field: FieldSpec): string => field.options.column ?? keyOf(field)

/** Names that SQL, JavaScript or the API itself could take for something else. */
const fieldNames = [
  'order', 'select', 'group', 'table', 'user', 'desc', 'index', 'limit', 'page', 'ordering', 'count',
  'search', 'a', 'B', 'a_b',
  'toString', 'constructor', 'data', 'values', 'rowid', 'x1', 'default'
]
const columnNames = ['From', 'SELECT', '_x', 'where', 'Limit_', 'and', 'oid', 'ctid_', 'T0', 'Key']
const tableNames = ['order', 'Group', 'from_', 'Table', '_rows', 't0', 'select', 'Things', 'union']
const modelNames = ['Order', 'Item', 'Table', 'Thing', 'Select', 'Near', 'A1', 'User2']

/** Pairs of field names of which the key of one is another. */
const distinct = (names: readonly string[], hasKeys: readonly boolean[]): boolean => {
  const all = names.flatMap((name, index) => hasKeys[index] === true ? [name, `${name}_id`] : [name])
  return new Set(all.map((name) => name.toLowerCase())).size === all.length
}

const chance = (percent: number): fc.Arbitrary<boolean> =>
  fc.noBias(fc.integer({ min: 0, max: 99 })).map((die) => die < percent)
const one = <Value>(...values: readonly [Value, ...Value[]]): fc.Arbitrary<Value> =>
  fc.noBias(fc.constantFrom<Value>(...values))
const maybe = <Value>(percent: number, value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.tuple(chance(percent), value).map(([is, given]) => is ? given : undefined)

const atMost = (most: number, names: readonly string[]): fc.Arbitrary<string[]> =>
  fc.subarray([...names], { maxLength: Math.min(most, names.length) })

/** What stands for a field without a rule. */
const without = <Rules extends object>(rules: Rules): Partial<Rules> =>
  Object.fromEntries(Object.entries(rules)
    .filter(([, value]) => value !== undefined && value !== false)) as Partial<Rules>

/** The rules that only some kinds have. */
const bounds: Readonly<Record<Kind, fc.Arbitrary<FieldOptions>>> = {
  text: fc.oneof(
    { weight: 4, arbitrary: fc.constant<FieldOptions>({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<FieldOptions>(
        { minLength: 1 }, { maxLength: 3 }, { minLength: 2, maxLength: 4 }, { maxLength: 500 }, { maxLength: 501 }
      )
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<FieldOptions>({ enum: ['a', 'A', 'a ', ''] }, {
        enum: ["it's", '\\', '%', '\u{1f600}', 'é', 'É']
      })
    },
    {
      weight: 1, arbitrary: fc.constantFrom<FieldOptions>({ format: 'email' }, { format: 'date' }, { format: 'ipv4' })
    }),
  integer: fc.constantFrom<FieldOptions>(
    {}, {}, { minimum: 0 }, { maximum: 10 }, { minimum: -2, maximum: 10 }, { minimum: -0.5, maximum: 9.5 }
  ),
  bigint: fc.constant({}),
  number: fc.constantFrom<FieldOptions>(
    {}, {}, { minimum: 0 }, { maximum: 1.5 }, { minimum: -1e21, maximum: 1e21 }, { minimum: 5e-324 },
    { minimum: 0.1, maximum: 0.30000000000000004 }
  ),
  decimal: fc.constantFrom<FieldOptions>(
    {}, { precision: 1, scale: 1 }, { precision: 5, scale: 0 }, { precision: 3, scale: 3 },
    { precision: 15, scale: 15 }, { precision: 15, scale: 0 }, { precision: 9, scale: 4 }
  ),
  boolean: fc.constant({}),
  datetime: fc.constant({}),
  date: fc.constant({}),
  json: fc.constant({}),
  uuid: fc.constant({})
}

const field = (name: string, kind: Kind): fc.Arbitrary<FieldSpec> =>
  fc.record({
    own: bounds[kind],
    nullable: chance(40),
    unique: kind === 'json' || kind === 'boolean' ? fc.constant(false) : chance(kind === 'text' ? 30 : 15),
    column: maybe(25, fc.constantFrom(...columnNames))
  }).chain(({ own, nullable, unique, column }) => {
    const options: FieldOptions = {
      ...(own.maxLength === 501 && unique ? {} : own), ...without({ nullable, unique, column }) as FieldOptions
    }
    const fixed: fc.Arbitrary<Json> = kind === 'datetime' || kind === 'date'
      ? fc.oneof(fc.constant('now'), canonical({ name, kind, options }))
      : canonical({ name, kind, options })
    return fc.tuple(maybe(unique ? 5 : 30, fixed), chance(25)).map(([value, isTouched]): FieldSpec => {
      const hasDefault = value !== undefined && value !== null
      const isSet = kind === 'datetime' && isTouched && !unique && (hasDefault || nullable)
      return {
        name, kind, options: { ...options, ...(hasDefault && { default: value }), ...(isSet && { onUpdate: 'now' }) }
      }
    })
  })

const reference = (name: string, at: number, count: number): fc.Arbitrary<FieldSpec> =>
  fc.record({
    target: fc.integer({ min: 0, max: count - 1 }),
    nullable: chance(50),
    unique: chance(20),
    column: maybe(20, fc.constantFrom(...columnNames)),
    rule: fc.constantFrom('restrict', 'cascade', 'set null', undefined)
  })
    .map(({ target, nullable, unique, column, rule }): FieldSpec => {
      // A record can only refer to what was there before, unless it may do without.
      const mayBeNull = nullable || target >= at || rule === 'set null'
      return {
        name,
        kind: 'foreignKey',
        target,
        options: without({ nullable: mayBeNull, unique, column, onDelete: rule }) as FieldOptions
      }
    })

/** The fields of the model at a place among `count` models: a few that log in, every kind there is, or any. */
function fieldsAt (at: number, count: number): fc.Arbitrary<readonly FieldSpec[]> {
  const some = (most: number) => fc.array(
    fc.oneof({ weight: 2, arbitrary: fc.constantFrom<Kind>(...kinds, 'text', 'text') }, {
      weight: 1, arbitrary: fc.constant('foreignKey' as const)
    }),
    { minLength: 1, maxLength: most }
  )
  const wanted = at === users
    ? some(2)
    : at === whole ? fc.constant([...kinds, 'foreignKey', 'foreignKey'] as const) : some(7)
  return wanted.chain((wanted) =>
    fc.shuffledSubarray(fieldNames, { minLength: wanted.length, maxLength: wanted.length }).chain((names) =>
      fc.tuple(...wanted.map((kind, index) =>
        kind === 'foreignKey' ? reference(String(names[index]), at, count) : field(String(names[index]), kind)))))
    .map((fields) => withoutClashes(at === users ? [...userFields, ...fields] : fields))
}

/** A model of which two or three fields, with short texts, are unique together now and then. */
function withUnique (spec: ModelSpec): fc.Arbitrary<ModelSpec> {
  const { fields } = spec
  const names = fields.filter(({ name, kind }) => kind !== 'json' && kind !== 'password' && name !== 'username')
    .map(({ name }) => name)
  if (names.length < 2) return fc.constant(spec)
  return maybe(20, fc.shuffledSubarray(names, { minLength: 2, maxLength: Math.min(3, names.length) })).map((group) => ({
    ...spec,
    fields: fields.map((field) => group?.includes(field.name) === true ? withShortText(field) : field),
    unique: group === undefined ? [] : [group]
  }))
}

function withShortText (field: FieldSpec): FieldSpec {
  const { kind, options: { maxLength = Infinity, enum: choices, ...options } } = field
  if (kind !== 'text' || choices !== undefined) return field
  const { default: value, ...others } = options
  const isShort = typeof value !== 'string' || value.length <= 100
  return { ...field, options: { ...isShort ? options : others, maxLength: Math.min(maxLength, 100) } }
}

/** Whether a foreign key refers to a model, or accounts are its records. */
const isReferred = (specs: readonly ModelSpec[], at: number): boolean =>
  at === users || specs.some(({ fields }) => fields.some(({ target }) => target === at))

const partKinds: readonly FieldSpec['kind'][] = ['text', 'integer', 'bigint', 'boolean', 'date', 'uuid', 'foreignKey']

/** A model whose key is made of two or three fields, more often than not. */
function withKeyFields (spec: ModelSpec): fc.Arbitrary<ModelSpec> {
  const parts = spec.fields.filter(({ name, kind, options }) => partKinds.includes(kind) && name !== spec.owner &&
    (kind !== 'foreignKey' || options.nullable !== true)).map(({ name }) => name)
  if (parts.length < 2) return fc.constant(spec)
  return maybe(60, fc.shuffledSubarray(parts, { minLength: 2, maxLength: Math.min(3, parts.length) })).map((names) => {
    if (names === undefined) return spec
    const isPart = (name: string): boolean => names.includes(name)
    return {
      ...spec,
      key: 'fields',
      keyFields: names,
      fields: spec.fields.map((field) => isPart(field.name) ? asPart(field) : field),
      unique: spec.unique.filter((group) => !group.every(isPart)),
      exclude: spec.exclude.filter((name) => !isPart(name)),
      readOnly: spec.readOnly.filter((name) => !isPart(name))
    }
  })
}

/** A field as the key of a model may have it: never null, and never unique alone. */
function asPart (field: FieldSpec): FieldSpec {
  const { nullable: _nullable, unique: _unique, ...options } = field.options
  return withShortText({ ...field, options })
}

/** Leaves out what would have a name, a key or a column of another. */
function withoutClashes (fields: readonly FieldSpec[]): readonly FieldSpec[] {
  const kept: FieldSpec[] = []
  for (const candidate of fields) {
    const all = [...kept, candidate]
    const columns = all.map((field) => columnOf(field).toLowerCase())
    if (new Set([...columns, 'id']).size !== columns.length + 1) continue
    if (distinct(all.map(({ name }) => name), all.map(({ kind }) => kind === 'foreignKey'))) kept.push(candidate)
  }
  return kept
}

const userFields: readonly FieldSpec[] = [
  { name: 'username', kind: 'text', options: { unique: true } },
  { name: 'password', kind: 'password', options: {} },
  { name: 'active', kind: 'boolean', options: { default: true } },
  { name: 'admin', kind: 'boolean', options: { default: false } }
]

function resource (fields: readonly FieldSpec[], isUsers: boolean): fc.Arbitrary<Pick<ModelSpec, 'policy' | 'exclude' |
  'readOnly' | 'filterable' | 'search' | 'owner' | 'defaultLimit' | 'maxLimit'>> {
  const names = fields.map(({ name }) => name)
  const owners = fields.filter(({ kind, target }) => kind === 'foreignKey' && target === users).map(({ name }) => name)
  return fc.record({
    policy: isUsers
      ? one<PolicyName>('admin', 'admin', 'admin', 'user', 'anybody')
      : one<PolicyName>(
        'anybody', 'anybody', 'anybody', 'user', 'user', 'user', 'user', 'user', 'userAll', 'admin', 'admin', 'readOnly'
      ),
    exclude: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary: atMost(2, names) }),
    readOnly: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, {
      weight: 1, arbitrary: atMost(1, fields.filter((field) => isOptional(field)).map(({ name }) => name))
    }),
    filterable: fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, {
      weight: 1, arbitrary: atMost(1, fields.filter(({ kind }) => kind !== 'password').map(({ name }) => name))
    }),
    search: fc.subarray(fields.filter(({ kind }) => kind === 'text').map(({ name }) => name)),
    isOwned: chance(80),
    owner: fc.nat(),
    maxLimit: fc.constantFrom(100, 100, 7),
    defaultLimit: fc.constantFrom(20, 7, 3)
  }).map(({ isOwned, owner, defaultLimit, maxLimit, ...options }) => ({
    ...options,
    search: options.search.filter((name) => !options.exclude.includes(name) || options.filterable.includes(name)),
    defaultLimit: Math.min(defaultLimit, maxLimit),
    maxLimit,
    exclude: isUsers && !options.exclude.includes('password') && owner % 3 > 0
      ? [...options.exclude, 'password']
      : options.exclude,
    ...(isOwned && owners.length > 0 && options.policy.startsWith('user') &&
      { owner: owners[owner % owners.length] as string })
  }))
}

/**
 * A table is called by another name than the model now and then; engines do not agree on case, so tables differ by
 * more.
 */
const names = (count: number): fc.Arbitrary<ReadonlyArray<readonly [name: string, table: string]>> => fc.tuple(
  fc.shuffledSubarray(modelNames, { minLength: count, maxLength: count }),
  fc.shuffledSubarray(tableNames, { minLength: count, maxLength: count }),
  fc.array(fc.boolean(), { minLength: count, maxLength: count })
).map(([models, tables, isRenamed]) => {
  const taken = new Set(models.map((name) => name.toLowerCase()))
  return models.map((name, index) => {
    const table = String(tables[index])
    return [name, isRenamed[index] === true && !taken.has(table.toLowerCase()) ? table : name.toLowerCase()] as const
  })
})

/** Two to five models, the first of which is that of the users. */
export const models: fc.Arbitrary<readonly ModelSpec[]> = fc.noBias(fc.integer({ min: 2, max: 5 }))
  .chain((count) => names(count).chain((named) =>
    fc.tuple(...named.map(([name, table], at) =>
      fc.tuple(one<KeyName>('integer', 'integer', 'uuid', 'text'), fieldsAt(at, count)).chain(([key, fields]) =>
        resource(fields, at === users).map((options): ModelSpec =>
          ({ name, table, key, keyFields: [], fields, unique: [], ...options })))))))
  .chain((specs) => fc.tuple(...specs.map((spec) => withUnique(spec))))
  .chain((specs) => fc.tuple(...specs.map((spec, at) =>
    isReferred(specs, at) ? fc.constant(spec) : withKeyFields(spec))))

const makers = { text, integer, bigint, number, decimal, boolean, datetime, date, json, uuid, password } as const

/** The models of specifications. */
export function define (specs: readonly ModelSpec[]): readonly Model[] {
  const made: Model[] = []
  for (const { name, table, key, keyFields, fields, unique } of specs) {
    const declared: Record<string, Field | ForeignKeyField> = {
      ...key === 'uuid' && { id: uuid({ clientGenerated: takesOwnKeys({ key, fields }) }) },
      ...key === 'text' && { id: text({ maxLength: maxKeyLength }) }
    }
    for (const spec of fields) declared[spec.name] = declare(spec, made)
    made.push(defineModel(name, declared, { table, unique, ...keyFields.length > 0 && { key: keyFields } }))
  }
  return made
}

function declare ({ kind, options, target }: FieldSpec, made: readonly Model[]): Field | ForeignKeyField {
  if (kind === 'foreignKey') return foreignKey(() => made[target ?? 0] as Model, options as object)
  return (makers[kind] as (options: object) => Field)(options)
}

/** Whether a record of a model may take others along that refuse this for others that go as well (D-67). */
export function deletesDiffer (specs: readonly ModelSpec[], model: number): boolean {
  const gone = new Set([model])
  const refersTo = (at: number, rule: (onDelete: string) => boolean): boolean =>
    (specs[at]?.fields ?? []).some(({ kind, target = -1, options }) => kind === 'foreignKey' && gone.has(target) &&
      rule(options.onDelete ?? 'restrict'))
  for (let size = 0; size < gone.size;) {
    size = gone.size
    for (const at of specs.keys()) if (refersTo(at, (rule) => rule === 'cascade')) gone.add(at)
  }
  return [...gone].some((at) => refersTo(at, (rule) => rule === 'restrict'))
}
