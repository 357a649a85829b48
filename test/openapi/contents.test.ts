// @once: documents are made of models, which no engine changes

import swagger from '@fastify/swagger'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { test } from 'tap'
import {
  bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, number, password, text, userAuth,
  uuid, type Model
} from '../../lib/index.js'
import { maxListed, maxOwn } from '../../lib/openapi/filters.js'
import { buildApp, Message, Note, User } from '../support/site.js'
import { documentedApp, parametersOf, version31, type Parameter, type Schema } from './documents.js'

const ajv = new Ajv2020({ strict: false })
ajvFormats.default(ajv)

/** A model whose primary key is a UUID. */
const Group = defineModel('Group', { id: uuid(), name: text({ unique: true }) })
/** A model with a field of every kind, in all manners. */
const Thing = defineModel('Thing', {
  group: foreignKey(() => Group, { nullable: true }),
  text: text({ minLength: 12, maxLength: 14 }),
  email: text({ format: 'email', nullable: true }),
  state: text({ enum: ['new', 'old'], default: 'new' }),
  count: integer({ minimum: 2.5, maximum: 9 }),
  big: bigint({ nullable: true }),
  size: number({ maximum: -1 }),
  price: decimal({ precision: 3, scale: 3 }),
  cost: decimal({ nullable: true }),
  flag: boolean({ nullable: true, default: null }),
  day: date({ default: 'now' }),
  moment: datetime({ default: () => '2024-01-01 00:00:00' }),
  extra: json({ nullable: true }),
  mark: uuid({ nullable: true }),
  secret: password({ maxLength: 20 }),
  // Names by which `@fastify/swagger` would take a list of parameters for a schema, and those of other parameters.
  const: text({ nullable: true }),
  properties: text({ nullable: true }),
  limit: integer({ nullable: true })
})

const things = {
  models: [User, Group, Thing],
  register: (registry: Parameters<NonNullable<Parameters<typeof buildApp>[1]>['register'] & {}>[0]) => {
    registry.register(Group, { auth: userAuth(User) }).register(Thing, { auth: userAuth(User) })
  }
}

test('D-73: every example in the document is an answer, or a body that is accepted', async (t) => {
  const { document, post, put, get } = await documentedApp(t, things)
  for (const [name, schema] of Object.entries(document.schemas)) {
    for (const example of schema.examples ?? []) t.ok(ajv.validate(schema, example), `${name}: ${ajv.errorsText()}`)
  }
  const exampleOf = (name: string) => document.schemas[name]?.examples?.[0] as Record<string, unknown>
  t.strictSame(
    Object.keys(exampleOf('ThingCreate')), ['text', 'count', 'size', 'price', 'secret'], 'what must be there'
  )
  const created = await post('/api/thing/', exampleOf('ThingCreate'), { as: 'alice' })
  t.strictSame([created.statusCode, created.body.slice(0, 10)], [201, '{"id":1,"g'])
  t.strictSame(
    (await put('/api/thing/1/', exampleOf('ThingUpdate'), { as: 'alice' })).statusCode, 400,
    'the group of the example is not there'
  )
  const group = (await post('/api/group/', exampleOf('GroupCreate'), { as: 'alice' })).json()
  t.strictSame((await put('/api/thing/1/', { group_id: group.id }, { as: 'alice' })).statusCode, 200)
  t.strictSame((await get(`/api/group/${String(group.id)}/`)).json(), group)
  t.strictSame(Object.keys(exampleOf('Thing')), Object.keys((await get('/api/thing/1/')).json()))
})

/** A text that a parameter takes, by its own account. */
function sampleOf ({ name, schema }: Parameter): string {
  const samples = [
    '1', 'true', 'null', '2026-01-31', '2026-01-31 12:30:00', '-0.5', '018f4d3a-7c1e-7b2a-9d3f-5a6b7c8d9e0f', '-id',
    '0.500', 'group'
  ]
  const parsed: Readonly<Record<string, (text: string) => unknown>> = {
    integer: Number,
    number: Number,
    boolean: (text) => text === 'true' ? true : text,
    array: (text) => text.split(',')
  }
  const found = samples.find((text) => ajv.validate(schema, parsed[String(schema.type)]?.(text) ?? text))
  if (found === undefined) throw new Error(`no sample for ${name}`)
  return found
}

test('D-76: every filter that is listed is permitted, with the operators and the values of its type', async (t) => {
  const { document, get } = await documentedApp(t, things)
  const { parameters = [] } = document.operation('listThing')
  t.equal(
    parameters.filter(({ in: place, required }) => place === 'query' && required === undefined).length,
    parameters.length
  )
  for (const parameter of parameters.filter(({ name }) => name !== 'after')) {
    if (/^(moment|day|price)/.test(parameter.name)) continue
    const reply = await get(`/api/thing/?${parameter.name}=${encodeURIComponent(sampleOf(parameter))}`)
    t.equal(reply.statusCode, 200, `${parameter.name}: ${reply.body}`)
  }
  const names = parametersOf(document.operation('listThing'))
  for (const [name, value] of [
    ['moment', '2024-01-01'], ['moment__gte', '2024-01-01T00:00Z'], ['day__in', '2024-01-01'], ['price', '0.5'],
    ['price__in', '0.5,0']
  ] as const) {
    t.ok(names.includes(name))
    t.equal((await get(`/api/thing/?${name}=${value}`)).statusCode, 200)
  }
  const schemaOf = (name: string): Schema => parameters.find((parameter) => parameter.name === name)?.schema ?? {}
  t.match(schemaOf('count__gt'), { type: 'integer', minimum: -(2 ** 31) })
  t.match(schemaOf('group'), { type: 'string', pattern: /0-9a-f/ })
  t.match(schemaOf('group__name__ilike'), { type: 'string', maxLength: 128 })
  t.strictSame(schemaOf('flag__is').enum, ['null', 'notnull', 'true', 'false'])
  t.strictSame(schemaOf('extra__is').enum, ['null', 'notnull'])
  t.strictSame(names.filter((name) => /^(secret|extra|limit|const|properties)/.test(name)), [
    'limit', 'extra__is',
    ...['const', 'properties'].flatMap((name) =>
      ['eq', 'ne', 'in', 'is', 'lt', 'lte', 'gt', 'gte', 'like', 'ilike'].map((operator) => `${name}__${operator}`)),
    ...['eq', 'ne', 'in', 'is', 'lt', 'lte', 'gt', 'gte'].map((operator) => `limit__${operator}`)
  ])
})

test('D-149: a key that clients may generate is in the body of a create alone, and not required', async (t) => {
  const Ticket = defineModel('Ticket', { id: uuid({ clientGenerated: true }), title: text({ nullable: true }) })
  const { document } = await documentedApp(t, {
    models: [User, Ticket], register: (registry) => { registry.register(Ticket, { auth: userAuth(User) }) }
  })
  const { TicketCreate: create, TicketUpdate: update } = document.schemas
  t.match(create?.properties?.['id'], { type: 'string', pattern: /0-9a-f/, description: /the server makes it/ })
  t.strictSame([create?.required, Object.keys(update?.properties ?? {})], [undefined, ['title']])
  t.strictSame(create?.examples, [{ title: 'some text' }])
})

test('D-154: a moment that updates set is in records alone', async (t) => {
  const Ticket = defineModel('Ticket', { title: text(), changed: datetime({ default: 'now', onUpdate: 'now' }) })
  const { document } = await documentedApp(t, {
    models: [User, Ticket], register: (registry) => { registry.register(Ticket, { auth: userAuth(User) }) }
  })
  const { Ticket: record, TicketCreate: create, TicketUpdate: update } = document.schemas
  t.strictSame([record, create, update].map((schema) => Object.keys(schema?.properties ?? {})), [
    ['id', 'title', 'changed'], ['title'], ['title']
  ])
})

test('D-76: lists of numbers are accepted as documented, without leading zeros or bare points', async (t) => {
  const { document, get } = await documentedApp(t, things)
  const parameters = document.operation('listThing').parameters ?? []
  for (const name of ['count__in', 'size__in']) {
    const pattern = new RegExp(String(parameters.find((parameter) => parameter.name === name)?.schema.pattern), 'u')
    for (const text of ['', '0', '-1', '10,2', '00', '01', '-01', '+1', '1.', '.5', '1,']) {
      t.equal(
        (await get(`/api/thing/?${name}=${encodeURIComponent(text)}`)).statusCode === 200, pattern.test(text),
        `${name}=${text}`
      )
    }
  }
})

test('D-76: parameters tell limits, defaults and what can be ordered by', async (t) => {
  const { document } = await documentedApp(t, {
    ...things,
    options: { limits: { offset: 77, filters: 3, patternLength: 5, inItems: 4 }, defaultLimit: 7, maxLimit: 9 }
  })
  const { parameters = [], description } = document.operation('listThing')
  const named = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter]))
  t.match(named['limit'], { schema: { type: 'integer', minimum: 1, maximum: 9, default: 7 } })
  t.match(named['page'], { description: /at most 77 records/ })
  t.match(named['text__like']?.schema, { maxLength: 5 })
  t.match(named['count__in']?.schema['description'], /at most 4/)
  t.match(description, 'At most 3 filters')
  const ordering = new RegExp(String(named['ordering']?.schema.pattern), 'u')
  for (const right of ['', 'id', '-moment', 'group,-group_id,count']) t.match(right, ordering)
  for (const wrong of ['extra', 'secret', 'id,', '--id', 'none']) t.notMatch(wrong, ordering)
})

test('D-76: place and ordering come first, then own fields, then others; a page fills in no ordering', async (t) => {
  const { document } = await documentedApp(t, {
    register: (registry) => registry.register(User).register(Message, { filterable: ['user__username'] })
  })
  const { parameters = [], description } = document.operation('listMessage')
  const names = parameters.map(({ name }) => name)
  const fields = names.slice(names.indexOf('id')).map((name) => name.replace(/__[a-z]+$/, ''))
  t.strictSame(names.slice(0, 4), ['limit', 'page', 'after', 'ordering'])
  t.strictSame([...new Set(fields.filter((name) => !name.startsWith('user__')))], ['id', 'user', 'content', 'pub_date'])
  t.ok(fields.lastIndexOf('pub_date') < fields.findIndex((name) => name.startsWith('user__')))
  t.match(description, /^To filter, /)
  const filledIn = parameters.filter(({ example, schema }) =>
    example !== undefined || schema['default'] !== undefined || schema.examples !== undefined)
  t.strictSame(filledIn.map(({ name }) => name), ['limit'])
  t.match(parameters.find(({ name }) => name === 'ordering'), { description: /such as `-id`/ })
})

test('D-73: the path of a record takes the primary key of its model', async (t) => {
  const { document } = await documentedApp(t, things)
  t.match(document.operation('readThing').parameters?.filter(({ in: place }) => place === 'path'), [
    { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 0 } }
  ])
  t.match(document.operation('readGroup').parameters, [
    { name: 'id', in: 'path', schema: { type: 'string', pattern: /0-9a-f/ } }
  ])
  t.strictSame(document.schemas['Thing']?.properties?.['group_id']?.type, ['string', 'null'])
})

test('D-169: include is a list of paths, and related records are optional and may be null', async (t) => {
  const { document } = await documentedApp(t, things)
  for (const id of ['listThing', 'readThing']) {
    const include = document.operation(id).parameters?.find(({ name }) => name === 'include')
    t.match(include, {
      in: 'query', style: 'form', explode: false, schema: { type: 'array', items: { type: 'string', enum: ['group'] } }
    })
  }
  for (const id of ['listGroup', 'readGroup', 'createThing', 'updateThing', 'deleteThing']) {
    t.notMatch(parametersOf(document.operation(id)), ['include'], id)
  }
  const { Thing, ThingCreate, ThingUpdate, Group } = document.schemas
  t.strictSame(Thing?.properties?.['group']?.['anyOf'], [Group, { type: 'null' }])
  t.strictSame(Object.keys(Thing?.properties ?? {}).slice(0, 3), ['id', 'group_id', 'group'])
  t.notOk(Thing?.required?.includes('group'))
  for (const body of [ThingCreate, ThingUpdate]) t.notOk(Object.hasOwn(body?.properties ?? {}, 'group'))
})

test('D-169: more than 100 paths are not named, and records that refer to each other are documented', async (t) => {
  const fields = Object.fromEntries(Array.from({ length: 11 }, (_, index) =>
    [`peer${index}`, foreignKey((): Model => index % 2 === 0 ? Node : Leaf, { nullable: true })]))
  const Node = defineModel('Node', fields)
  const Leaf = defineModel('Leaf', { node: foreignKey((): Model => Node, { nullable: true }), name: text() })
  const { document, get } = await documentedApp(t, {
    models: [Node, Leaf],
    rows: { leaf: [{ id: 1, node_id: null, name: 'a' }], node: [{ id: 1, peer1_id: 1 }] },
    register: (registry) => { registry.register(Node).register(Leaf).register(Leaf, { path: 'other-leaf' }) }
  })
  const include = document.operation('listNode').parameters?.find(({ name }) => name === 'include')
  t.strictSame(include?.schema['items'], { type: 'string' })
  t.match((await get('/api/node/1/?include=peer1__node__peer0')).json(), { peer1: { node: null } })
  t.match(document.text, /"Leaf":\{.*"node":\{"anyOf":\[\{"\$ref":"#\/components\/schemas\/Node"\},\{"type":"null"\}\]/)
  t.strictSame(Object.keys(document.schemas).filter((name) => /^(Node|Leaf|OtherLeaf)\d*$/.test(name)), [
    'Node', 'Leaf', 'OtherLeaf'
  ])
})

test('D-169: each model is described once, however many paths of foreign keys lead to it', async (t) => {
  for (const isCircle of [false, true]) {
    const models: Model[] = []
    for (let index = 0; index < 40; index++) {
      const lower = models.slice(index - index % 2 - 2, index - index % 2)
      const first = isCircle && index < 2 ? [foreignKey((): Model => models.at(-1) ?? User, { nullable: true })] : []
      const peers = [...first, ...lower.map((target) => foreignKey(() => target, { nullable: true }))]
      const fields = Object.fromEntries(peers.map((field, place) => [`peer${place}`, field]))
      models.push(defineModel(`Layer${index}`, { name: text(), ...fields }))
    }
    const { app } = await buildApp(t, {
      models,
      prepare: async (app) => { await app.register(swagger, version31) },
      register: (registry) => { for (const model of models) registry.register(model) }
    })
    const start = performance.now()
    const document = JSON.stringify(app.swagger())
    // A schema for each of the 2 ** 20 paths would take minutes.
    t.ok(performance.now() - start < 5000, `${performance.now() - start} ms`)
    t.equal(document.match(/"Layer\d+":\{"type":"object"/g)?.length, 40)
  }
})

test('D-169: no related record is documented where the limits permit none', async (t) => {
  const { document } = await documentedApp(t, { ...things, options: { limits: { totalJoins: 0 } } })
  t.notMatch(document.text, /"name":"include"/)
  t.notOk(Object.hasOwn(document.schemas['Thing']?.properties ?? {}, 'group'))
})

test('D-77: bodies tell what must be there, defaults, and what no answer shows', async (t) => {
  const { document } = await documentedApp(t, things)
  const { properties = {}, required } = document.schemas['ThingCreate'] ?? {}
  t.strictSame(required, ['text', 'count', 'size', 'price', 'secret'])
  t.strictSame([properties['state']?.['default'], properties['flag']?.['default']], ['new', null])
  t.strictSame([properties['day'], properties['moment'], properties['secret']].map((schema) => schema?.['default']), [
    undefined, undefined, undefined
  ])
  t.strictSame(document.schemas['ThingUpdate']?.required, undefined)
  for (const [name, schema] of Object.entries(document.schemas['ThingUpdate']?.properties ?? {})) {
    t.notOk('default' in schema, `an update keeps '${name}' if it is left out`)
  }
  t.strictSame(document.schemas['Thing']?.properties?.['secret'], {
    type: 'string', description: 'What is stored, a hash'
  })
  t.strictSame(Object.keys(document.operation('updateThing').requestBody?.content ?? {}),
    ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'])
})

const Hider = defineModel('Hider', {
  shown: text(),
  buried_one: text({ default: 'buried_two' }),
  written_only: text({ default: 'buried_three' }),
  owner: foreignKey(() => User, { nullable: true })
})
const Looker = defineModel('Looker', { hider: foreignKey(() => Hider), title: text() })

test('D-77: a hidden field is not in the document, or in bodies alone if clients may write it', async (t) => {
  const { document, post } = await documentedApp(t, {
    models: [User, Hider, Looker],
    register: (registry) => registry
      .register(Hider, { auth: userAuth(User), exclude: ['buried_one', 'written_only'], readOnly: ['buried_one'] })
      .register(Looker, { auth: userAuth(User) })
  })
  t.notMatch(document.text, /buried/)
  t.strictSame(document.schemas['HiderCreate']?.properties?.['written_only'], {
    type: 'string', maxLength: 65_536, writeOnly: true
  })
  t.equal(document.text.split('written_only').length - 1, 2, 'in the bodies of a create and of an update')
  const created = await post('/api/hider/', { shown: 'x', written_only: 'y' }, { as: 'alice' })
  t.strictSame([created.statusCode, created.json()], [201, { id: 1, shown: 'x', owner_id: null }])
  t.notMatch(document.text, /"(user|owner)__username/, 'a model without a resource shows its key alone')
  t.ok(parametersOf(document.operation('listLooker')).includes('hider__owner__id__in'))
})

test('D-77: an excluded owner is not named, nor is an excluded field an example', async (t) => {
  const Owned = defineModel('Owned', {
    buried_owner: foreignKey(() => User), buried: text({ nullable: true, enum: ['hidden one'], default: 'hidden one' })
  })
  const { document } = await documentedApp(t, {
    models: [User, Owned],
    register: (registry) => {
      registry.register(Owned, {
        auth: userAuth(User), ownerField: 'buried_owner', exclude: ['buried_owner', 'buried']
      })
    }
  })
  t.match(
    document.operation('createOwned').description,
    'The record belongs to whoever creates it: the owner is set by the server.'
  )
  t.notMatch(document.text, 'buried_owner')
  t.equal(document.schemas['OwnedCreate']?.examples?.length, 1)
  t.strictSame(document.schemas['OwnedCreate']?.examples?.[0], {})
})

test('D-77: what nobody may do is left out, so that a hidden field is nowhere', async (t) => {
  const { document } = await documentedApp(t, {
    models: [User, Hider], register: (registry) => { registry.register(Hider, { exclude: ['written_only'] }) }
  })
  t.notMatch(document.text, /written_only/)
  t.throws(() => document.operation('createHider'), /No operation/)
})

test('D-76: what `filterable` opens is listed once, as far as filters may go', async (t) => {
  const { document } = await documentedApp(t, {
    models: [User, Hider, Looker],
    options: { limits: { joins: 1 } },
    register: (registry) => registry
      .register(Hider, { exclude: ['buried_one'], filterable: ['buried_one', 'owner__username', 'owner__id'] })
      .register(Looker, { filterable: ['hider__owner__username', 'hider__buried_one'] })
  })
  const names = parametersOf(document.operation('listHider'))
  t.ok(['buried_one__like', 'owner__username', 'owner__id'].every((name) => names.includes(name)))
  t.equal(new Set(names).size, names.length)
  const far = parametersOf(document.operation('listLooker'))
  t.ok(far.includes('hider__buried_one'))
  t.notOk(far.some((name) => /^hider__owner__(username|id)/.test(name)))
})

test('D-76: filters through a resource with protected reads are listed where somebody may use them', async (t) => {
  const register = (protect: 'writes' | 'all') => ({
    models: [User, Hider, Looker],
    register: (registry: Parameters<typeof things.register>[0]) => {
      registry.register(Hider, { auth: userAuth(User, { protect: 'all' }) })
        .register(Looker, { auth: userAuth(User, { protect }) })
    }
  })
  const open = (await documentedApp(t, register('writes'))).document.operation('listLooker')
  t.strictSame(
    parametersOf(open).filter((name) => name.startsWith('hider__') && !/^hider__(ne|in|is|lte?|gte?)$/.test(name)), []
  )
  const closed = (await documentedApp(t, register('all'))).document.operation('listLooker')
  t.ok(parametersOf(closed).includes('hider__shown'))
  t.match(closed.description, 'are for those who may list it')
  const everybody = userAuth(User, { protect: 'all' })
  for (const hider of [
    { ...everybody, closed: ['list'] as const }, { ...everybody, login: undefined },
    { ...everybody, login: 'another' }
  ]) {
    const nobody = (await documentedApp(t, {
      models: [User, Hider, Looker],
      register: (registry) => { registry.register(Hider, { auth: hider }).register(Looker, { auth: everybody }) }
    })).document.operation('listLooker')
    t.notOk(parametersOf(nobody).includes('hider__shown'), 'nobody may use them')
  }
})

test('D-76: models that refer to each other in circles do not let the document explode', async (t) => {
  const Knot: Model = defineModel(
    'Knot',
    Object.fromEntries('abcdefghij'.split('').map((name) => [name, foreignKey((): Model => Knot, { nullable: true })]))
  )
  const { document } = await documentedApp(t, {
    models: [Knot], options: { limits: { joins: 25 } }, register: (registry) => { registry.register(Knot) }
  })
  const { description } = document.operation('listKnot')
  const names = parametersOf(document.operation('listKnot'))
  t.ok(names.length <= maxListed + 6, `${names.length} parameters`)
  t.ok(names.includes('j__lt') && names.includes('a__b__in'), 'own columns are all there, then the nearest')
  t.match(description, 'There are more filters than are listed here: other fields have them too, ' +
    'and a filter may follow up to 25 foreign keys')
  const few = await documentedApp(t, things)
  t.notMatch(few.document.operation('listThing').description, 'more filters than are listed')
})

test('D-76: columns of its own are all listed, up to a bound', async (t) => {
  const Wide = defineModel('Wide', Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, text()])))
  const { document } = await documentedApp(t, { models: [Wide], register: (registry) => { registry.register(Wide) } })
  t.equal(parametersOf(document.operation('listWide')).length, 5 + 8 + 400)
  t.notMatch(document.operation('listWide').description, 'more filters than are listed')
})

test('D-76: what is open and opened by name as well counts once', async (t) => {
  const fields = Array.from({ length: 17 }, (_, index) => `f${index}`)
  const Wide = defineModel('Wide', {
    ...Object.fromEntries(fields.map((name) => [name, text()])), user: foreignKey(() => User)
  })
  const { document } = await documentedApp(t, {
    models: [User, Wide], register: (registry) => { registry.register(Wide, { filterable: fields }) }
  })
  t.ok(parametersOf(document.operation('listWide')).includes('user__id'))
  t.notMatch(document.operation('listWide').description, 'more filters than are listed')
})

test('D-76: a resource lists its own fields, whatever another resource of its model hides', async (t) => {
  const { document } = await documentedApp(t, {
    register: (registry) => registry.register(Note).register(Note, { path: 'fewer', exclude: ['message'] })
  })
  const [all, fewer] = ['listNote', 'listFewer'].map((id) => parametersOf(document.operation(id)))
  t.ok(all?.includes('message') && all.includes('created'))
  t.ok(fewer?.includes('message') === false && fewer.includes('created'))
})

test('D-73: a text of which no example is at hand leaves a schema without one', async (t) => {
  const Odd = defineModel('Odd', { regex: text({ format: 'regex' }), long: text({ minLength: 500, nullable: true }) })
  const { document } = await documentedApp(t, {
    models: [User, Odd], register: (registry) => { registry.register(Odd, { auth: userAuth(User) }) }
  })
  t.strictSame([document.schemas['Odd']?.examples, document.schemas['OddCreate']?.examples], [undefined, undefined])
})

test('D-73: the example of a choice is the first one that fits the length, and there may be none', async (t) => {
  const Choice = defineModel('Choice', {
    long: text({ enum: ['b', 'aaa'], minLength: 2 }), short: text({ enum: ['aaa', '\u{1f600}'], maxLength: 1 })
  })
  const None = defineModel('None', { word: text({ enum: ['a', 'b'], minLength: 2 }) })
  const { document, post } = await documentedApp(t, {
    models: [User, Choice, None],
    register: (registry) => {
      registry.register(Choice, { auth: userAuth(User) }).register(None, { auth: userAuth(User) })
    }
  })
  const [example] = document.schemas['ChoiceCreate']?.examples ?? []
  t.strictSame(example, { long: 'aaa', short: '\u{1f600}' })
  t.equal((await post('/api/choice/', example as object, { as: 'alice' })).statusCode, 201)
  t.equal(document.schemas['NoneCreate']?.examples, undefined)
})

test('D-76: the document lists a bounded number of filters of a large model, and all of them work', async (t) => {
  const Wide = defineModel(
    'Wide',
    Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field${index}`, integer({ nullable: true })]))
  )
  const { get, document } = await documentedApp(t, {
    models: [Wide], register: (registry) => { registry.register(Wide) }
  })
  const list = document.operation('listWide')
  t.ok((list.parameters?.length ?? 0) <= maxOwn + 5, `${list.parameters?.length} parameters`)
  t.match(list.description, 'There are more filters than are listed here')
  t.equal((await get('/api/wide/?field299__gt=1')).statusCode, 200)
})

test('a date in a filter is a day that there is', async (t) => {
  const Day = defineModel('Day', { day: date() })
  const { get, document } = await documentedApp(t, {
    models: [Day], register: (registry) => { registry.register(Day) }
  })
  t.match(document.operation('listDay').parameters?.find(({ name }) => name === 'day')?.schema, { format: 'date' })
  t.equal((await get('/api/day/?day=2026-02-30')).statusCode, 400)
})

test('what a hook of the host hides stays out of the document', async (t) => {
  const { document } = await documentedApp(t, {
    prepare: (app) => {
      app.addHook('onRoute', (route) => {
        if (route.url.includes('/note/')) route.schema = { ...route.schema, hide: true }
      })
    }
  })
  const paths = Object.keys(document.paths)
  t.notOk(paths.some((path) => path.includes('/note/')))
  t.ok(paths.some((path) => path.includes('/message/')))
})
