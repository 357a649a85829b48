// @once: about words, which no engine changes

import { test } from 'tap'
import { fieldKinds } from '../../lib/fields/field-kinds.js'
import {
  bigint, boolean, date, decimal, defineModel, foreignKey, integer, json, key, number, text, uuid, type Model,
  type Policy
} from '../../lib/index.js'
import { checkCompiler } from '../../schemas/check.js'
import { formats } from '../../schemas/formats.js'
import { Type } from '@sinclair/typebox'
import { buildApp, type BuildOptions } from '../support/site.js'

const Item = defineModel('Item', { id: uuid(), name: text() })
const All = defineModel('All', {
  short: text({ minLength: 3, maxLength: 4, default: 'abc' }),
  single: text({ minLength: 1, default: 'a' }),
  state: text({ enum: ['new', 'used or old'], default: 'new' }),
  only: text({ enum: ['one'], default: 'one' }),
  many: text({ enum: Array.from({ length: 21 }, (_, index) => `choice ${index}`), default: 'choice 1' }),
  mail: text({ format: 'email', nullable: true }),
  size: integer({ minimum: 2, maximum: 5, default: 3 }),
  maybe: integer({ nullable: true }),
  weight: number({ nullable: true }),
  big: bigint({ nullable: true }),
  price: decimal({ nullable: true, precision: 5, scale: 2 }),
  flag: boolean({ default: true }),
  other: boolean({ nullable: true }),
  choice: text({ enum: ['a', 'b'], nullable: true }),
  day: date({ nullable: true }),
  code: uuid({ nullable: true }),
  item: foreignKey(() => Item, { nullable: true }),
  data: json({ nullable: true }),
  needed: text()
})
const anybody: Policy = {
  open: ['list', 'read', 'create', 'update', 'delete'], authenticator: () => async () => null, permits: () => false
}
const site: BuildOptions = {
  models: [Item, All],
  register: (registry) => { registry.register(Item, { auth: anybody }).register(All, { auth: anybody }) }
}

/** Each wrong value of a field, and the message about it. */
const bodies: ReadonlyArray<readonly [field: string, value: unknown, message: string]> = [
  ['short', 'ab', 'must have at least 3 characters'],
  ['short', 'abcde', 'must have at most 4 characters'],
  ['single', '', 'must have at least 1 character'],
  ['single', 5, 'must be a string'],
  ['single', null, 'must not be null'],
  ['state', 'broken', 'must be "new" or "used or old"'],
  ['only', 'two', 'must be "one"'],
  ['many', 'choice', 'must be one of the values that the field takes'],
  ['choice', 'c', 'must be "a", "b" or null'],
  ['mail', 'nobody', 'must be an e-mail address'],
  ['size', '3', 'must be an integer'],
  ['size', 1, 'must be at least 2'],
  ['size', 6, 'must be at most 5'],
  ['maybe', 'a', 'must be an integer or null'],
  ['maybe', 2 ** 31, 'must be at most 2147483647'],
  ['weight', true, 'must be a number or null'],
  ['flag', 'yes', 'must be true or false'],
  ['other', 1, 'must be true, false or null'],
  ['big', '1.5', 'must be a whole number of 64 bits as text, such as "12"'],
  ['price', '1,5', 'must be a decimal number that looks like "12.50", with no more digits than its field takes'],
  ['price', '1.234', 'must be a decimal number that looks like "12.50", with no more digits than its field takes'],
  ['price', 1.5, 'must be a string or null'],
  ['day', '31.1.2026', 'must be an existing date as YYYY-MM-DD'],
  ['day', '2026-02-30', 'must be an existing date as YYYY-MM-DD'],
  ['code', 'abc', 'must be a UUID'],
  ['item_id', 'abc', 'must be a UUID'],
  ['shorts', 'abc', "is not a field of this resource, did you mean 'short'?"],
  ['itm', 1, "is not a field of this resource, did you mean 'item'?"],
  ['Item', 1, "is not a field of this resource, did you mean 'item'?"],
  ['itemId', 1, "is not a field of this resource, did you mean 'item_id'?"],
  ['stock', 'abc', 'is not a field of this resource']
]

test('what is wrong with a value of a body is said in plain English', async (t) => {
  const { post } = await buildApp(t, site)
  for (const [field, value, message] of bodies) {
    const reply = await post('/api/all/', { needed: 'a', [field]: value })
    t.match(reply.json(), { statusCode: 400, details: [{ field, message }] }, `${field}: ${JSON.stringify(value)}`)
    t.equal(reply.json().details.length, 1)
    t.equal(reply.json().details[0].message, message)
  }
  t.same((await post('/api/all/', {})).json().details, [{ field: 'needed', message: 'is required' }])
})

test('every format of a text has words of its own', async (t) => {
  const check = checkCompiler()
  for (const format of Object.keys(formats)) {
    const message = check.ofValue(Type.String({ format }))('\0')
    t.match(message ?? 'must be a', /^must be (a|an|text|binary) ?/, format)
    t.notMatch(message, /undefined|format|\\/)
  }
})

test('the pattern of every kind has words of its own', async (t) => {
  const check = checkCompiler()
  for (const [kind, { schema, expects }] of Object.entries(fieldKinds)) {
    const { pattern, type } = schema({})
    if (pattern !== undefined) t.equal(check.ofValue(schema({}))('x'), `must be ${expects}`, kind)
    else if (type !== undefined) {
      t.match(check.ofValue(schema({}))([]), /^must be (a|an) \w+$|^must be true or false$/, kind)
    }
  }
})

/** Each body that is no JSON object, and the message about it. */
const texts: ReadonlyArray<readonly [body: string, message: string | RegExp]> = [
  ['{"a": 1,}', 'The body is not valid JSON (position 8)'],
  ["{'a': 1}", 'The body is not valid JSON (position 1)'],
  ['{"a": b}', /^The body is not valid JSON( \(position 6\))?$/],
  ['{"a": "at position 7" b}', /^The body is not valid JSON \(position 22\)$/],
  ['', 'The body must be one JSON object'],
  ['[1]', 'The body must be one JSON object'],
  ['{"__proto__": 1}', "The body must not have the keys '__proto__' and 'constructor.prototype'"]
]

test('a body that is no JSON object is told from one that is no JSON, with the position', async (t) => {
  const { app } = await buildApp(t, site)
  for (const [payload, message] of texts) {
    const headers = { 'content-type': 'application/json' }
    const reply = await app.inject({ method: 'POST', url: '/api/item/', payload, headers })
    t.match(reply.json(), { statusCode: 400, code: 'REST_MODELS_INVALID_BODY', message }, payload)
  }
})

const unordered = 'must be columns that this resource can be ordered by, separated by commas, ' +
  'each with an optional hyphen before it'
/** Each wrong query, and the message about its parameter. */
const queries: ReadonlyArray<readonly [query: string, message: string]> = [
  ['id__contains=1', 'must end in an operator of its field: eq, ne, in, is, lt, lte, gt, gte'],
  ['size__like=1', 'must end in an operator of its field: eq, ne, in, is, lt, lte, gt, gte'],
  ['data=1', 'must end in an operator of its field: is'],
  ['item__naem=a', "is not a parameter of this resource, did you mean 'item__name'?"],
  ['prize=1.50', "is not a parameter of this resource, did you mean 'price'?"],
  ['prize__gt=1.50', "is not a parameter of this resource, did you mean 'price'?"],
  ['orderin=size', "is not a parameter of this resource, did you mean 'ordering'?"],
  ['unheard=of', 'is not a parameter of this resource'],
  ['ordering=-prize', `${unordered}, did you mean 'price'?`],
  ['ordering=size,data', unordered],
  ['ordering=item__name', unordered],
  ['limit=0', 'must be a whole number from 1 to 100'],
  ['limit=101', 'must be a whole number from 1 to 100'],
  ['limit=ten', 'must be a whole number from 1 to 100'],
  ['page=0', 'must be a whole number of at least 1'],
  ['price=1,5', 'must be a decimal number that looks like "12.50", with no more digits than its field takes'],
  ['code=abc', 'must be a UUID']
]

test('what is wrong with a parameter is said in plain English, with the nearest name', async (t) => {
  const { get } = await buildApp(t, site)
  for (const [query, message] of queries) {
    const { statusCode, details } = (await get(`/api/all/?${query}`)).json()
    t.equal(statusCode, 400, query)
    t.equal(details[0].message, message, query)
  }
})

test('nothing is suggested for a name of more than 100 characters', async (t) => {
  const { get } = await buildApp(t, site)
  const { details } = (await get(`/api/all/?ordering=${'price'.repeat(21)}`)).json()
  t.equal(details[0].message, unordered)
})

test('a hidden name is never suggested, however near: no excluded field, and none of a closed model', async (t) => {
  const Person = defineModel('Person', { username: text(), nickname: text() })
  const Post = defineModel('Post', {
    person: foreignKey(() => Person), title: text(), secret: text({ nullable: true })
  })
  const guarded: Policy = { open: [], authenticator: () => async () => null, permits: () => true }
  const { get } = await buildApp(t, {
    models: [Person, Post],
    register: (registry) => {
      registry.register(Person, { auth: guarded, exclude: ['nickname'] })
        .register(Post, { auth: anybody, exclude: ['secret'], readOnly: ['secret'] })
    }
  })
  for (const query of ['secrt=1', 'secret=1', 'person__usernam=1', 'person__nicknam=1', 'ordering=secrt']) {
    t.notMatch((await get(`/api/post/?${query}`)).body, /did you mean '(secret|person__)/, query)
  }
  const open = await buildApp(t, {
    models: [Person, Post],
    register: (registry) => { registry.register(Person, { exclude: ['nickname'] }).register(Post) }
  })
  t.match((await open.get('/api/post/?person__usernam=1')).body, /did you mean 'person__username'/)
  t.notMatch((await open.get('/api/post/?person__nicknam=1')).body, /person__nickname'/)
})

test('the key by the name of its column suggests id, but not for a hidden field of that name', async (t) => {
  const id = key({ column: 'option_id', generated: false })
  const models = {
    renamed: defineModel('Option', { id, name: text() }),
    plain: defineModel('Option', { id: key({ generated: false }), name: text() }),
    hiding: defineModel('Option', { id, name: text(), option_id: integer({ column: 'number', nullable: true }) })
  }
  const unknown = ['is not a parameter of this resource', 'is not a field of this resource']
  for (const [name, model] of Object.entries<Model>(models)) {
    const { get, post } = await buildApp(t, {
      models: [model],
      register: (registry) => {
        registry.register(model, {
          auth: anybody, ...(name === 'hiding' && { exclude: ['option_id'], readOnly: ['option_id'] })
        })
      }
    })
    const replies = [await get('/api/option/?option_id=1'), await post('/api/option/', { option_id: 1, name: 'a' })]
    const messages = replies.map((reply) => reply.json().details[0].message)
    const hint = name === 'renamed' ? ", did you mean 'id'?" : ''
    t.strictSame(messages, unknown.map((message) => `${message}${hint}`), name)
  }
})

test('a hidden field is answered, to the byte, as if the model did not have it', async (t) => {
  const hiding = defineModel('Post', { title: text(), titles: text({ nullable: true }) })
  const lacking = defineModel('Post', { title: text() })
  const { get, post } = await buildApp(t, {
    models: [hiding],
    register: (registry) => { registry.register(hiding, { auth: anybody, exclude: ['titles'], readOnly: ['titles'] }) }
  })
  const other = await buildApp(t, {
    models: [lacking], register: (registry) => { registry.register(lacking, { auth: anybody }) }
  })
  for (const name of ['titles', 'title', 'titel', 'unheard']) {
    for (const query of [`${name}s=1`, `${name}__gt=1`, `${name}__near=1`, `ordering=${name}s`, `ordering=-${name}`]) {
      t.equal((await get(`/api/post/?${query}`)).body, (await other.get(`/api/post/?${query}`)).body, query)
    }
    const body = { [`${name}s`]: 'a' }
    t.equal((await post('/api/post/', body)).body, (await other.post('/api/post/', body)).body, name)
  }
})

test('of a resource with very many paths only the nearest are compared', async (t) => {
  const names = Array.from({ length: 210 }, (_, index) => `field${index}`)
  const fields = Object.fromEntries(names.map((name) => [name, text({ nullable: true })]))
  const Wide = defineModel('Wide', fields)
  const { get } = await buildApp(t, { models: [Wide], register: (registry) => { registry.register(Wide) } })
  t.match((await get('/api/wide/?field20x=1')).json().details[0].message, /did you mean 'field20/)
  t.notMatch((await get('/api/wide/?field209x=1')).json().details[0].message, /'field209'/)
})
