// @once: about definitions, which no engine sees

import { test } from 'tap'
import {
  bigint, boolean, createTables, date, datetime, decimal, defineModel, foreignKey, integer, json, key, number,
  password, text, uuid,
  type CreateOf, type Field, type Model
} from '../../lib/index.js'
import { openSqlite } from '../../lib/sqlite.js'
import { fieldKinds } from '../../lib/fields/field-kinds.js'
import { buildApp, Note, siteUsers, User } from '../support/site.js'

const anybody = {
  open: ['list', 'read', 'create', 'update', 'delete'] as const,
  authenticator: () => async () => null,
  permits: () => false
}

test('a model has the primary key, then its fields in the order of their declaration', (t) => {
  const Book = defineModel('Book', {
    title: text(), author: foreignKey(() => User), isbn: text({ nullable: true, column: 'ISBN_13' })
  })
  t.equal(Book.name, 'Book')
  t.equal(Book.table, 'book')
  t.strictSame(Book.columns.map(({ field, key, name, kind, nullable }) => ({ field, key, name, kind, nullable })), [
    { field: 'id', key: 'id', name: 'id', kind: 'key', nullable: false },
    { field: 'title', key: 'title', name: 'title', kind: 'text', nullable: false },
    { field: 'author', key: 'author_id', name: 'author_id', kind: 'foreignKey', nullable: false },
    { field: 'isbn', key: 'isbn', name: 'ISBN_13', kind: 'text', nullable: true }
  ])
  t.equal(Book.byName.get('author'), Book.byName.get('author_id'))
  t.equal(Book.byName.get('ISBN_13'), undefined, 'the name of a column is no name of a field')
  t.equal(defineModel('Book', { title: text() }, { table: 'Old_books' }).table, 'Old_books')
  t.end()
})

test('fields that are unique together are columns of the model, and their texts get a length', (t) => {
  const Project = defineModel('Project', {
    company: foreignKey(() => User), name: text(), note: text(), state: text({ enum: ['a'] })
  }, { unique: [['company', 'name'], ['state', 'company']] })
  t.strictSame(Project.uniqueTogether.map((columns) => columns.map(({ key }) => key)), [
    ['company_id', 'name'], ['state', 'company_id']
  ])
  for (const value of [
    Project.uniqueTogether, Project.uniqueTogether[0], Project.columns[2], Project.columns[2]?.options
  ]) t.ok(Object.isFrozen(value))
  t.equal(Project.uniqueTogether[0]?.[0], Project.byName.get('company'))
  t.equal(Project.byName.get('name')?.options.maxLength, 500)
  t.equal(Project.byName.get('note')?.options.maxLength, undefined)
  t.equal(Project.byName.get('state')?.options.maxLength, undefined)
  t.strictSame(defineModel('Book', { title: text() }).uniqueTogether, [])
  t.end()
})

test('a model is frozen, and what it was made of stays as it was', (t) => {
  const fields = { title: text() }
  const Book = defineModel('Book', fields)
  Object.assign(fields, { more: text() })
  t.strictSame(Object.keys(Book.fields), ['title'])
  for (const value of [
    Book, Book.fields, Book.fields.title, Book.fields.title.options, Book.columns, Book.columns[1]
  ]) {
    t.ok(Object.isFrozen(value))
  }
  t.end()
})

const circular = (): Model => Node
const Node = defineModel('Node', { parent: foreignKey(circular, { nullable: true }), name: text() })

test('models may refer to themselves and to each other', async (t) => {
  const { post, get } = await buildApp(t, {
    models: [Node], register: (registry) => { registry.register(Node, { auth: anybody }) }
  })
  t.strictSame((await post('/api/node/', { name: 'root' })).json(), { id: 1, parent_id: null, name: 'root' })
  t.strictSame((await post('/api/node/', { name: 'leaf', parent: 1 })).json(), { id: 2, parent_id: 1, name: 'leaf' })
  t.strictSame((await get('/api/node/?parent__name=root')).json().objects, [{ id: 2, parent_id: 1, name: 'leaf' }])
})

interface Fault {
  readonly wrong: () => unknown
  readonly right: () => unknown
  readonly message: RegExp
}

const one = (field: unknown, name = 'size') => () => defineModel('Thing', { [name]: field as Field })
const thing = /^field 'size' of model 'Thing'/

const faults: Record<string, Fault> = {
  'a name with a hyphen': {
    wrong: () => defineModel('my-book', { title: text() }),
    right: () => defineModel('my_book', { title: text() }),
    message: /model 'my-book'.*letters, digits and single underscores/
  },
  'a name that begins with a digit': {
    wrong: () => defineModel('2nd', { title: text() }),
    right: () => defineModel('Nd2', { title: text() }),
    message: /model '2nd'.*begins with a letter/
  },
  'no name': {
    wrong: () => defineModel('', { title: text() }),
    right: () => defineModel('x', { title: text() }),
    message: /model ''/
  },
  'no fields': {
    wrong: () => defineModel('Book', {}),
    right: () => defineModel('Book', { title: text() }),
    message: /model 'Book' needs at least one field/
  },
  'a table with a quote': {
    wrong: () => defineModel('Book', { title: text() }, { table: 'a"b' }),
    right: () => defineModel('Book', { title: text() }, { table: 'a_b' }),
    message: /table 'a"b' of model 'Book'/
  },
  'a field with two underscores': {
    wrong: one(text(), 'first__name'),
    right: one(text(), 'first_name'),
    message: /field 'first__name' of model 'Thing'.*single underscores/
  },
  'a field with a final underscore': {
    wrong: one(text(), 'class_'),
    right: one(text({ column: 'class_' }), 'kind'),
    message: /field 'class_' of model 'Thing'/
  },
  'a field called as an operator': {
    wrong: one(text(), 'like'),
    right: one(text({ column: 'like' }), 'liking'),
    message: /field 'like' of model 'Thing'.*filter operator.*'column'/
  },
  'a field called id': {
    wrong: one(integer(), 'id'),
    right: one(integer(), 'number'),
    message:
      /field 'id' of model 'Thing' is the primary key: leave it out .* or declare .*\. The only options are 'column'/
  },
  'a key that is not id': {
    wrong: one(key({ column: 'x' })),
    right: one(key({ column: 'x' }), 'id'),
    message: /field 'size' of model 'Thing' is made by key\(\), which only the field 'id' may be/
  },
  'a key with an option that it does not have': {
    wrong: one({ kind: 'key', options: { unique: true } }, 'id'),
    right: one(key({ generated: false }), 'id'),
    message: /field 'id' of model 'Thing' is the primary key/
  },
  'a key whose column cannot be a name': {
    wrong: one(key({ column: 'a b' }), 'id'),
    right: one(key({ column: 'a_b' }), 'id'),
    message: /field 'id' of model 'Thing', column 'a b'/
  },
  'a key that is perhaps generated': {
    wrong: one({ kind: 'key', options: { generated: 'no' } }, 'id'),
    right: one(key({ generated: false }), 'id'),
    message: /field 'id' of model 'Thing': 'generated' is true or false/
  },
  'a field called as the key of a foreign key': {
    wrong: () => defineModel('Thing', { user: foreignKey(() => User), user_id: text() }),
    right: () => defineModel('Thing', { user: foreignKey(() => User), user_name: text() }),
    message: /model 'Thing' has two fields that are called 'user_id'/
  },
  'two fields in one column': {
    wrong: () => defineModel('Thing', { a: text({ column: 'x' }), b: text({ column: 'X' }) }),
    right: () => defineModel('Thing', { a: text({ column: 'x' }), b: text({ column: 'y' }) }),
    message: /model 'Thing'.*two fields.*column 'x'/i
  },
  'a field in the column of the primary key': {
    wrong: one(integer({ column: 'id' })),
    right: one(integer({ column: 'ident' })),
    message: /model 'Thing'.*two fields.*column 'id'/
  },
  'a name that engines would cut': {
    wrong: one(text({ column: 'x' }), 'n'.repeat(61)), right: one(text(), 'n'.repeat(60)), message: /at most 60/
  },
  'a choice that cannot be stored': {
    wrong: one(text({ enum: ['a', 'b\0'] })),
    right: one(text({ enum: ['a', 'b'] })),
    message: /'enum' must be a list of at least one text, without NUL/
  },
  'a column that PostgreSQL has itself': {
    wrong: one(text({ column: 'ctid' })),
    right: one(text({ column: 'cited' })),
    message: /field 'size' of model 'Thing': every table of PostgreSQL has a system column 'ctid'/
  },
  'a field called as a column that PostgreSQL has itself': {
    wrong: one(text(), 'xmin'), right: one(text({ column: 'x_min' }), 'xmin'), message: /field 'xmin' of model 'Thing'/
  },
  'the key of a reference, which is its column, that PostgreSQL has itself': {
    wrong: one(foreignKey(() => User, { key: 'cmin' })),
    right: one(foreignKey(() => User), 'xmin'),
    message: /field 'size' of model 'Thing': every table of PostgreSQL has a system column 'cmin'/
  },
  'a field that is none': {
    wrong: one('text'), right: one(text()), message: /^field 'size' of model 'Thing' is not a field; use text\(\)/
  },
  'a field that was not called': {
    wrong: one(text), right: one(text()), message: /^field 'size' of model 'Thing' is not a field; use text\(\)/
  },
  'an unknown option': {
    wrong: one(text({ max: 3 } as {})),
    right: one(text({ maxLength: 3 })),
    message: /^field 'size' of model 'Thing' has an unknown option 'max', did you mean/
  },
  "another kind's option": {
    wrong: one(boolean({ minimum: 0 } as {})),
    right: one(number({ minimum: 0 })),
    message: /^field 'size' of model 'Thing' has an unknown option 'minimum'/
  },
  'a column with a quote': {
    wrong: one(text({ column: 'a"' })), right: one(text({ column: '_a__1' })), message: thing
  },
  'a null default where null is not permitted': {
    wrong: one(text({ default: null })),
    right: one(text({ default: null, nullable: true })),
    message: /^field 'size' of model 'Thing': the default is null.*'nullable'/
  },
  "'set null' where null is not permitted": {
    wrong: one(foreignKey(() => User, { onDelete: 'set null' })),
    right: one(foreignKey(() => User, { onDelete: 'set null', nullable: true })),
    message: /^field 'size' of model 'Thing': onDelete 'set null' needs.*'nullable'/
  },
  'an unknown action on delete': {
    wrong: one(foreignKey(() => User, { onDelete: 'CASCADE' as 'cascade' })),
    right: one(foreignKey(() => User, { onDelete: 'cascade' })),
    message: /^field 'size' of model 'Thing'.*'onDelete'.*'cascade'/
  },
  'a foreign key to no function': {
    wrong: one(foreignKey(User as never)),
    right: one(foreignKey(() => User)),
    message: /^field 'size' of model 'Thing'.*foreignKey\(\(\) => Model\)/
  },
  'too much precision': {
    wrong: one(decimal({ precision: 16 })),
    right: one(decimal({ precision: 15 })),
    message: /^field 'size' of model 'Thing': 'precision' must be from 1 to 15/
  },
  'no precision': {
    wrong: one(decimal({ precision: 0, scale: 0 })),
    right: one(decimal({ precision: 1, scale: 0 })),
    message: /'precision' must be from 1 to 15/
  },
  'more scale than precision': {
    wrong: one(decimal({ precision: 4, scale: 5 })),
    right: one(decimal({ precision: 4, scale: 4 })),
    message: /^field 'size' of model 'Thing': 'scale' must be from 0 to 'precision'/
  },
  'an unknown format': {
    wrong: one(text({ format: 'emial' })),
    right: one(text({ format: 'email' })),
    message: /^field 'size' of model 'Thing': 'format' is one of .*email/
  },
  'a choice that is named twice': {
    wrong: one(text({ enum: ['a', 'a'] })), right: one(text({ enum: ['a', 'A'] })), message: /'enum' names a text twice/
  },
  'no choices': {
    wrong: one(text({ enum: [] })), right: one(text({ enum: [''] })), message: /^field 'size' of model 'Thing'.*'enum'/
  },
  'a length below 0': {
    wrong: one(text({ minLength: -1 })),
    right: one(text({ minLength: 0 })),
    message: /^field 'size' of model 'Thing'.*'minLength'/
  },
  'a bound that is no number': {
    wrong: one(integer({ maximum: '9' as never })),
    right: one(integer({ maximum: 9 })),
    message: /^field 'size' of model 'Thing'.*'maximum'/
  }
}

const shop = {
  name: text({ maxLength: 80 }), size: integer(), data: json(), pin: password(), user: foreignKey(() => User)
}
const unique = (given: unknown, others: Record<string, Field> = {}) => () =>
  defineModel('Shop', { ...shop, ...others } as Record<string, Field>, { unique: given as string[][] })

const uniqueFaults: Record<string, Fault> = {
  'an unknown option': {
    wrong: () => defineModel('Shop', shop, { uniqe: [['name', 'size']] } as {}),
    right: unique([['name', 'size']]),
    message: /^model 'Shop': has an unknown option 'uniqe', did you mean 'unique'\?/
  },
  'unique fields in no list': {
    wrong: unique('name'), right: unique([]), message: /^model 'Shop': 'unique' is a list of lists of field names/
  },
  'unique fields in one list': {
    wrong: unique(['name', 'size']), right: unique([['name', 'size']]), message: /such as \[\['company', 'name'\]\]/
  },
  'unique fields that are no names': {
    wrong: unique([['name', 1]]), right: unique([['name', 'user']]), message: /is a list of lists of field names/
  },
  'one unique field in a list': {
    wrong: unique([['name']]),
    right: unique([['name', 'size']]),
    message: /^model 'Shop': each entry of 'unique' names 2 to 16 different fields; one field alone has the option/
  },
  'no unique fields in a list': { wrong: unique([[]]), right: unique([]), message: /names 2 to 16 different fields/ },
  'a unique field twice in a list': {
    wrong: unique([['name', 'size', 'name']]), right: unique([['name', 'size']]), message: /2 to 16 different fields/
  },
  'seventeen unique fields': {
    wrong: unique([Array.from({ length: 17 }, (_, index) => `n${index}`)], numbered(17)),
    right: unique([Array.from({ length: 16 }, (_, index) => `n${index}`)], numbered(16)),
    message: /names 2 to 16 different fields/
  },
  'the same unique fields twice': {
    wrong: unique([['name', 'size'], ['size', 'name']]),
    right: unique([['name', 'size'], ['size', 'user']]),
    message: /^model 'Shop': 'unique' has size, name twice/
  },
  'a unique field that it does not have': {
    wrong: unique([['name', 'sise']]),
    right: unique([['name', 'size']]),
    message: /^model 'Shop': 'unique' names 'sise', which is not a field, did you mean 'size'\?/
  },
  'a unique foreign key by its key': {
    wrong: unique([['name', 'user_id']]),
    right: unique([['name', 'user']]),
    message: /names 'user_id', which is not a field, did you mean 'user'\?/
  },
  'a unique field that only objects have': {
    wrong: unique([['name', 'toString']]),
    right: unique([['name', 'size']]),
    message: /names 'toString', which is not a/
  },
  'the primary key with another unique field': {
    wrong: unique([['id', 'name']], { id: uuid() }),
    right: unique([['size', 'name']], { id: uuid() }),
    message: /^model 'Shop': 'unique' names 'id', which is unique without other fields; leave it out/
  },
  'the primary key that it does not declare with another unique field': {
    wrong: unique([['name', 'id']]), right: unique([['name', 'size']]), message: /names 'id', which is unique without/
  },
  'unique JSON': {
    wrong: unique([['name', 'data']]),
    right: unique([['name', 'size']]),
    message: /^model 'Shop': 'unique' names 'data', which is a json and cannot be unique; leave it out/
  },
  'a unique password': {
    wrong: unique([['pin', 'name']]),
    right: unique([['size', 'name']]),
    message: /'unique' names 'pin', which is a password and cannot be unique; leave it out/
  },
  'unique texts that are too long together': {
    wrong: unique([['name', 'title']], { title: text({ maxLength: 521 }) }),
    right: unique([['name', 'title']], { title: text({ maxLength: 520 }) }),
    message: /^model 'Shop': the texts of the entry name, title of 'unique' have 601 characters, but together at/
  },
  'several unique texts without a length': {
    wrong: unique([['word', 'title']], { title: text(), word: text() }),
    right: unique([['word', 'title']], { title: text(), word: text({ maxLength: 100 }) }),
    message: /have 1000 characters, but together at most 600, because .*give them a lower 'maxLength'/
  },
  'a unique choice that is too long': {
    wrong: unique([['state', 'title']], { title: text(), state: text({ enum: ['new', 'x'.repeat(101)] }) }),
    right: unique([['state', 'title']], { title: text(), state: text({ enum: ['new', '\u{1f600}'.repeat(100)] }) }),
    message: /have 601 characters/
  },
  'a unique choice with room for more': {
    wrong: unique([['state', 'title']], { title: text(), state: text({ enum: ['new'], maxLength: 101 }) }),
    right: unique([['state', 'title']], { title: text(), state: text({ enum: ['new'], maxLength: 100 }) }),
    message: /have 601 characters/
  },
  'a unique text that is longer than its default maximum': {
    wrong: unique([['title', 'size']], { title: text({ minLength: 501 }) }),
    right: unique([['title', 'size']], { title: text({ minLength: 501, maxLength: 600 }) }),
    message: /field 'title' of model 'Shop': 'minLength' is more than 'maxLength', which is 500/
  },
  'a unique field that is none': {
    wrong: unique([['title', 'size']], { title: null } as never),
    right: unique([['title', 'size']], { title: text() }),
    message: /^field 'title' of model 'Shop' is not a field/
  }
}

function numbered (count: number): Record<string, Field> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, integer()]))
}

for (const [name, { wrong, right, message }] of Object.entries({ ...faults, ...uniqueFaults })) {
  test(`a model cannot have ${name}`, (t) => {
    t.throws(wrong, { code: 'REST_MODELS_INVALID_MODEL', statusCode: 500, message })
    t.doesNotThrow(right)
    t.end()
  })
}

const Everything = defineModel('Everything', {
  text: text(),
  integer: integer(),
  bigint: bigint(),
  number: number(),
  decimal: decimal({ precision: 15, scale: 3 }),
  boolean: boolean(),
  datetime: datetime(),
  date: date(),
  json: json(),
  uuid: uuid(),
  password: password(),
  reference: foreignKey(() => Note)
})
const note = { id: 7, message: 'x', created: '2024-01-01 00:00:00' }
const whole = {
  text: 'é\u{1f600}\r\n null ',
  integer: -2147483648,
  bigint: '-9223372036854775808',
  number: 1.5e-300,
  decimal: '-999999999999.999',
  boolean: true,
  datetime: '2024-02-29 23:59:59',
  date: '1000-01-01',
  json: { a: [1, null, 'é', { deep: true }], b: 'null' },
  uuid: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
  password: 'secret',
  reference: 7
}

const everything = { models: [Note, Everything], rows: { note: [note] } } as const
const register = (registry: Parameters<NonNullable<Parameters<typeof buildApp>[1]>['register'] & {}>[0]): void => {
  registry.register(Everything, { auth: anybody, exclude: ['password'] })
}

test('every kind of field is stored and read back as it was', async (t) => {
  const { get, post } = await buildApp(t, { ...everything, register })
  const { password: _password, reference, ...others } = whole
  const expected = { id: 1, ...others, reference_id: reference }
  const created = await post('/api/everything/', whole)
  t.strictSame(created.json(), expected)
  t.strictSame((await get('/api/everything/1/')).json(), expected)
  t.strictSame((await get('/api/everything/')).json().objects, [expected])
})

/** For each kind: what is written, as what it is read back, and a filter that finds it and it alone. */
const forms: Record<string, ReadonlyArray<readonly [written: unknown, read: unknown, filter: string]>> = {
  text: [
    ['', '', 'text='], ['a,"b', 'a,"b', 'text__in=%22a%2C%22%22b%22'], ['%_\\', '%_\\', 'text__like=%5C%25%5C_%5C%5C']
  ],
  integer: [[2147483647, 2147483647, 'integer=2147483647'], [0, 0, 'integer__gt=-1&integer__lt=1']],
  bigint: [
    ['9007199254740993', '9007199254740993', 'bigint=9007199254740993'],
    ['9007199254740992', '9007199254740992', 'bigint=9007199254740992'],
    ['9223372036854775807', '9223372036854775807', 'bigint__gt=9223372036854775806'], ['0', '0', 'bigint__in=0,1']
  ],
  number: [
    [0.1, 0.1, 'number=0.1'], [1.7976931348623157e308, 1.7976931348623157e308, 'number__gte=1.7976931348623157e308'],
    [5e-324, 5e-324, 'number=5e-324'], [3, 3, 'number=3.0']
  ],
  decimal: [
    ['0.1', '0.100', 'decimal=0.10'], ['-0.001', '-0.001', 'decimal=-0.001'],
    ['123456789012.345', '123456789012.345', 'decimal=123456789012.345'],
    ['123456789012.346', '123456789012.346', 'decimal__gt=123456789012.345']
  ],
  boolean: [[false, false, 'boolean=0']],
  datetime: [
    ['2024-01-01T01:00:00+02:00', '2023-12-31 23:00:00', 'datetime=2023-12-31T23:00:00Z'],
    ['0001-01-01', '0001-01-01 00:00:00', 'datetime__lt=0001-01-01T00:00:01'],
    ['0000-12-31T23:30:00-01:00', '0001-01-01 00:30:00', 'datetime=0001-01-01%2000:30:00'],
    ['0096-02-29T23:30:00-01:00', '0096-03-01 00:30:00', 'datetime__in=0096-03-01%2000:30:00'],
    ['9999-12-31 23:59:59', '9999-12-31 23:59:59', 'datetime__gte=9999-12-31%2023:59:59'],
    ['2024-06-01T10:00:00.999Z', '2024-06-01 10:00:00', 'datetime__in=2024-06-01%2010:00:00'],
    ['2024-06-01 02:00:00-08', '2024-06-01 10:00:00', 'datetime=2024-06-01%2012:00:00%2B02']
  ],
  date: [
    ['9999-12-31', '9999-12-31', 'date__gt=9999-12-30'], ['2024-02-29', '2024-02-29', 'date=2024-02-29'],
    ['0001-01-01', '0001-01-01', 'date=0001-01-01'], ['0070-01-01', '0070-01-01', 'date__lt=0070-01-02']
  ],
  uuid: [[
    'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12',
    'uuid=A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a12'
  ]],
  json: [...[1, 'text', '', false, [], {}, 1e308, [[]], { '': 0 }].map((value) => [value, value, 'id=2'] as const)]
}

for (const [kind, cases] of Object.entries(forms)) {
  test(`${kind} is read back and found: ${cases.map(([written]) => JSON.stringify(written)).join(' ')}`, async (t) => {
    const { get, post, put } = await buildApp(t, { ...everything, register })
    await post('/api/everything/', whole)
    await post('/api/everything/', whole)
    for (const [written, read, filter] of cases) {
      t.strictSame((await put('/api/everything/2/', { [kind]: written })).json()[kind], read)
      t.strictSame((await get('/api/everything/2/')).json()[kind], read)
      const found = (await get(`/api/everything/?${filter}`)).json<{ objects: Array<{ id: number }> }>()
      t.strictSame(found.objects.map(({ id }) => id), [2], filter)
    }
  })
}

/** For each kind, values that are refused, each beside one of the same sort that is not. */
const refused: Record<string, ReadonlyArray<readonly [wrong: unknown, right: unknown]>> = {
  text: [[1, '1'], ['a\0', 'a'], ['\udc00', '\u{10ffff}'], [null, 'null'], [['a'], 'a']],
  integer: [['1', 1], [1.5, 1], [2147483648, 2147483647], [-2147483649, -2147483648], [true, 1], [null, 0]],
  bigint: [
    [1, '1'], ['9223372036854775808', '9223372036854775807'], ['-9223372036854775809', '-9223372036854775808'],
    ['01', '1'], ['1.0', '1'], ['-0', '0'], ['+1', '1']
  ],
  number: [['1', 1], [null, 0]],
  decimal: [
    [1, '1'], ['1.2345', '1.234'], ['1234567890123', '123456789012'], ['1e3', '1000'], ['.5', '0.5'], ['5.', '5'],
    ['-0.000', '0.000'], ['NaN', '0']
  ],
  boolean: [[1, true], ['true', true], [null, false]],
  datetime: [
    ['2023-02-29 00:00:00', '2024-02-29 00:00:00'], ['2024-01-01 24:00:00', '2024-01-01 23:00:00'],
    ['now', '2024-01-01'], [1704067200, '2024-01-01 00:00:00'], ['0000-12-31', '0001-01-01'],
    ['9999-12-31T23:59:59-01:00', '9999-12-31T23:59:59+01:00'], ['0000-00-00', '2000-01-01']
  ],
  date: [['2023-02-29', '2023-02-28'], ['0000-01-01', '0001-01-01'], ['0099-02-29', '0096-02-29'],
    ['2024-01-01 00:00:00', '2024-01-01'], ['24-01-01', '2024-01-01']],
  uuid: [
    ['a0eebc99', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12']
  ],
  json: [[null, 0], [{ a: 'x\0' }, { a: 'x' }], [['\ud800'], ['\ud7ff']], [{ 'k\0': 1 }, { k: 1 }]],
  password: [[1, '1'], ['é'.repeat(513), 'é'.repeat(512)], ['a\0b', 'ab']],
  reference: [['7', 7], [7.5, 7], [2 ** 53, 7], [8, 7], [-1, 7], [null, 7]]
}

for (const [kind, cases] of Object.entries(refused)) {
  test(`${kind} refuses what it is not, naming the field`, async (t) => {
    const { post, put, rowsOf } = await buildApp(t, { ...everything, register })
    await post('/api/everything/', whole)
    const before = await rowsOf('everything')
    for (const [wrong] of cases) {
      for (const reply of [
        await post('/api/everything/', { ...whole, [kind]: wrong }),
        await put('/api/everything/1/', { [kind]: wrong })
      ]) {
        t.equal(reply.statusCode, 400, JSON.stringify(wrong))
        t.strictSame(reply.json().details.map(({ field }: { field: string }) => field.replace(/_id$/, '')), [kind])
      }
    }
    t.strictSame(await rowsOf('everything'), before)
    for (const [, right] of cases) {
      t.equal((await put('/api/everything/1/', { [kind]: right })).statusCode, 200, JSON.stringify(right))
    }
  })
}

test('bounds, lengths, choices and formats hold', async (t) => {
  const Bounded = defineModel('Bounded', {
    count: integer({ minimum: 0, maximum: 9, default: 5 }),
    ratio: number({ minimum: 0.5, maximum: 1.5, default: 1 }),
    code: text({ minLength: 2, maxLength: 3, default: 'abc' }),
    size: text({ enum: ['s', 'm'], default: 's' }),
    mail: text({ format: 'email', default: 'a@b.example' }),
    pin: password({ minLength: 4, maxLength: 6, default: '12345' })
  })
  const { post } = await buildApp(t, {
    models: [Bounded], register: (registry) => { registry.register(Bounded, { auth: anybody, exclude: ['pin'] }) }
  })
  const bounds: Record<string, readonly [wrong: unknown[], right: unknown[]]> = {
    count: [[-1, 10], [0, 9]],
    ratio: [[0.49, 1.51], [0.5, 1.5]],
    code: [['a', 'abcd', '\u{1f600}'], ['ab', 'abc', '\u{1f600}\u{1f600}\u{1f600}']],
    size: [['l', 'S', ''], ['s', 'm']],
    mail: [['a', 'a@', ''], ['x@y.example']],
    pin: [['123', '1234567'], ['1234', '123456']]
  }
  for (const [field, [wrong, right]] of Object.entries(bounds)) {
    for (const value of wrong) {
      t.match(
        (await post('/api/bounded/', { [field]: value })).json(), { statusCode: 400, details: [{ field }] },
        `${field} ${String(value)}`
      )
    }
    for (const value of right) {
      t.equal((await post('/api/bounded/', { [field]: value })).statusCode, 201, `${field} ${String(value)}`)
    }
  }
})

test('defaults fill what a create leaves out: values, now, functions and null', async (t) => {
  let calls = 0
  const Filled = defineModel('Filled', {
    text: text({ default: '' }),
    big: bigint({ default: '9007199254740993' }),
    price: decimal({ default: '1.5' }),
    flag: boolean({ default: false }),
    at: datetime({ default: 'now' }),
    day: date({ default: 'now' }),
    since: datetime({ default: '2024-01-01T00:00:00+02:00' }),
    data: json({ default: { a: [] } }),
    key: uuid({ default: () => 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' }),
    count: integer({ default: () => ++calls }),
    nothing: text({ nullable: true }),
    none: text({ nullable: true, default: () => null as never }),
    word: text({ default: 'now' })
  })
  const { post } = await buildApp(t, {
    models: [Filled], register: (registry) => { registry.register(Filled, { auth: anybody }) }
  })
  const before = new Date().toISOString()
  const { at, day, ...record } = (await post('/api/filled/', {})).json()
  t.strictSame(record, {
    id: 1,
    text: '',
    big: '9007199254740993',
    price: '1.50',
    flag: false,
    since: '2023-12-31 22:00:00',
    data: { a: [] },
    key: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    count: 1,
    nothing: null,
    none: null,
    word: 'now'
  })
  t.ok(at >= before.slice(0, 19).replace('T', ' ') && at <= new Date().toISOString().replace('T', ' '), at)
  t.ok(day >= before.slice(0, 10) && day <= new Date().toISOString().slice(0, 10), day)
  t.equal((await post('/api/filled/', {})).json().count, 2, 'a function gives a value for each record')
})

test('a function that gives an unfit default is a bug of the deployer: 500, and nothing is stored', async (t) => {
  let value: unknown = 'many'
  const Filled = defineModel('Filled', { count: integer({ default: () => value as number }) })
  const { post, rowsOf } = await buildApp(t, {
    models: [Filled], register: (registry) => { registry.register(Filled, { auth: anybody }) }
  })
  const reply = await post('/api/filled/', {})
  t.strictSame([reply.statusCode, reply.json().code], [500, 'REST_MODELS_INTERNAL'])
  t.notMatch(reply.body, /many|count|default/)
  t.strictSame(await rowsOf('filled'), [])
  value = 3
  t.equal((await post('/api/filled/', {})).statusCode, 201)
})

test('fields that may be null may be left out, set to null, and found by it', async (t) => {
  const nullable = { nullable: true } as const
  const Loose = defineModel('Loose', {
    text: text({ nullable: true, enum: ['a'] }),
    integer: integer(nullable),
    bigint: bigint(nullable),
    number: number(nullable),
    decimal: decimal({ nullable: true, scale: 3 }),
    boolean: boolean(nullable),
    datetime: datetime(nullable),
    date: date(nullable),
    json: json(nullable),
    uuid: uuid(nullable),
    password: password(nullable),
    note: foreignKey(() => Note, nullable)
  })
  const { get, post, put } = await buildApp(t, {
    models: [Note, Loose],
    rows: { note: [note] },
    register: (registry) => { registry.register(Loose, { auth: anybody, exclude: ['password'] }) }
  })
  const { text: _text, reference, password: _password, ...others } = whole
  const full = { ...others, text: 'a', note_id: 7 }
  const empty = Object.fromEntries(Object.keys(full).map((key) => [key, null]))
  t.match((await post('/api/loose/', {})).json(), { id: 1, ...empty })
  t.match((await put('/api/loose/1/', { ...full, note_id: reference })).json(), full)
  t.equal((await get('/api/loose/?boolean__is=null')).json().objects.length, 0)
  t.match((await put('/api/loose/1/', empty)).json(), { id: 1, ...empty })
  for (const key of Object.keys(full)) {
    t.equal((await get(`/api/loose/?${key}__is=null`)).json().objects.length, 1, key)
  }
})

test('the table of a model may be filled past the API: what it lacks is filled in there as well', async (t) => {
  const db = openSqlite(':memory:')
  t.teardown(async () => { await db.destroy() })
  await createTables(db, [User])
  const [admin] = await siteUsers() ?? []
  const { username, password, email } = admin ?? {}
  await db.insertInto('user').values({ username, password, email }).execute()
  t.match(await db.selectFrom('user').selectAll().execute(), [
    { id: 1, active: 1, admin: 0, join_date: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/ }
  ])
})

test('a decimal without digits behind the point is the text of a whole number', async (t) => {
  const Whole = defineModel('Whole', { count: decimal({ precision: 3, scale: 0 }) })
  const { post, get } = await buildApp(t, {
    models: [Whole], register: (registry) => { registry.register(Whole, { auth: anybody }) }
  })
  t.match((await post('/api/whole/', { count: '-120' })).json(), { count: '-120' })
  for (const count of ['1.0', '1000', '-0', '01', '']) {
    t.equal((await post('/api/whole/', { count })).statusCode, 400, count)
  }
  t.equal((await get('/api/whole/?count__lt=0')).json().objects.length, 1)
})

test('neither JSON nor a password can be read from the text of a filter', (t) => {
  t.equal(fieldKinds.json.parse('{}', {}), undefined)
  t.equal(fieldKinds.password.parse('secret', {}), undefined)
  t.end()
})

test('a text whose format is that of a date is serialized like any other, whatever is stored', async (t) => {
  const Dated = defineModel('Dated', {
    day: text({ format: 'date' }), at: text({ format: 'date-time', nullable: true }), format: text({ default: 'x' })
  })
  const day = 'x","id":7,"z":"'
  const { get, post } = await buildApp(t, {
    models: [Dated],
    rows: { dated: [{ day, at: 'q"' }] },
    register: (registry) => { registry.register(Dated, { auth: anybody }) },
    undocumented: 'a value that the API would not write'
  })
  t.same((await get('/api/dated/1/')).json(), { id: 1, day, at: 'q"', format: 'x' })
  t.equal((await post('/api/dated/', { day })).statusCode, 400, 'what is written must have the format')
  t.equal((await post('/api/dated/', { day: '2024-01-01' })).statusCode, 201)
})

test('a function of a default is held to the bounds of its field', async (t) => {
  let given: unknown = 3
  const Counted = defineModel('Counted', { count: integer({ minimum: 1, maximum: 5, default: () => given as number }) })
  const { post, rowsOf } = await buildApp(t, {
    models: [Counted], register: (registry) => { registry.register(Counted, { auth: anybody }) }
  })
  t.equal((await post('/api/counted/', {})).statusCode, 201)
  for (given of [9, '3', null, undefined, 1.5]) {
    t.equal((await post('/api/counted/', {})).statusCode, 500, String(given))
  }
  t.equal((await rowsOf('counted')).length, 1)
})

test('a decimal of fifteen digits behind the point may be negative', async (t) => {
  const Small = defineModel('Small', { part: decimal({ precision: 15, scale: 15 }) })
  const { post } = await buildApp(t, {
    models: [Small], register: (registry) => { registry.register(Small, { auth: anybody }) }
  })
  t.match((await post('/api/small/', { part: '-0.123456789012345' })).json(), { part: '-0.123456789012345' })
})

test('D-207: the key of a foreign key may have another name', async (t) => {
  const Post = defineModel('Post', { author: foreignKey(() => User, { key: 'authorId' }), title: text() })
  const body: CreateOf<typeof Post> = { authorId: 1, title: 'one' }
  const app = await buildApp(t, {
    models: [User, Post],
    rows: { post: [{ id: 1, authorId: 1, title: 'zero' }] },
    register: (registry) => { registry.register(Post, { auth: anybody }) }
  })
  t.match((await app.post('/api/post/', body)).json(), { authorId: 1, title: 'one' })
  for (const name of ['authorId', 'author']) {
    t.equal((await app.get(`/api/post/?${name}=1&ordering=-${name}&after=`)).json().objects.length, 2, name)
  }
  t.match((await app.get('/api/post/1/?include=author')).json(), { authorId: 1, author: { id: 1 } })
  t.equal((await app.get('/api/post/?author_id=1')).statusCode, 400)
  const wrong = [['author', /another name/], ['in', /another name/], ['a__b', /a name consists/]] as const
  for (const [key, message] of wrong) {
    t.throws(() => defineModel('Wrong', { author: foreignKey(() => User, { key }) }), {
      code: 'REST_MODELS_INVALID_MODEL', message
    })
  }
})
