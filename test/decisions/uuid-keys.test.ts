import { test, type Test } from 'tap'
import {
  adminAuth, boolean, createTables, defineModel, foreignKey, integer, password, text, userAuth, uuid, type Field,
  type Model, type RecordOf
} from '../../lib/index.js'
import { engine, openDatabase } from '../support/database.js'
import { definitions, type Definition } from '../support/definitions.js'
import { buildApp, siteUsers, valuesOf, type Rows } from '../support/site.js'

const Member = defineModel('Member', {
  id: uuid(),
  username: text({ unique: true }),
  password: password(),
  active: boolean({ default: true }),
  admin: boolean({ default: false })
})
const Folder = defineModel('Folder', {
  id: uuid(),
  owner: foreignKey(() => Member),
  name: text(),
  parent: foreignKey((): Model<'Folder', { id: Field<'uuid'> }> => Folder, { nullable: true, onDelete: 'set null' })
})
/** A model whose own key is an integer. */
const Sheet = defineModel('Sheet', {
  folder: foreignKey(() => Folder, { onDelete: 'cascade' }), size: integer({ default: 0 })
})
const Owned = defineModel('Owned', { id: uuid(), name: text() })
const models = [Member, Folder, Sheet]

type FolderRecord = RecordOf<typeof Folder>

const anybody = {
  open: ['list', 'read', 'create', 'update', 'delete'] as const,
  authenticator: () => async () => null,
  permits: () => false
}

/** Keys in ascending order, but not in the order in which their rows are inserted. */
const keys = {
  admin: 'c0000000-0000-4000-8000-000000000001',
  alice: 'b0000000-0000-4000-8000-000000000002',
  bob: 'a0000000-0000-4000-8000-000000000003',
  carol: 'd0000000-0000-4000-8000-000000000004'
}
const folders = [
  '00000000-0000-0000-0000-000000000000', '0f8fad5b-d9cb-469f-a165-70867728950e',
  '9a000000-0000-4000-8000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'
] as const
const [first, second, third, last] = folders
const missing = '12345678-1234-4234-8234-123456789abc'

async function rows (): Promise<Rows> {
  const [admin, alice, bob, carol] = await siteUsers()
  const member = Object.entries({ admin, alice, bob, carol })
    .map(([name, { username = '', password = '', active = 0, admin = 0 } = {}]) =>
      ({ id: keys[name as keyof typeof keys], username, password, active, admin }))
  const folder = [
    { id: third, owner_id: keys.alice, name: 'c', parent_id: null },
    { id: first, owner_id: keys.alice, name: 'a', parent_id: third },
    { id: last, owner_id: keys.bob, name: 'd', parent_id: null },
    { id: second, owner_id: keys.bob, name: 'b', parent_id: first }
  ]
  const sheet = [
    { id: 1, folder_id: first, size: 1 }, { id: 2, folder_id: last, size: 2 }, { id: 3, folder_id: first, size: 3 }
  ]
  return { member, folder, sheet }
}

const build = async (t: Test, isFilled = true) => await buildApp(t, {
  models,
  register: (registry) => {
    registry.register(Member, { auth: adminAuth(Member), exclude: ['password'] })
    registry.register(Folder, { auth: userAuth(Member), ownerField: 'owner' })
    registry.register(Sheet, { auth: anybody })
  },
  rows: isFilled ? await rows() : {}
})

test('D-65: a record with a UUID for a key is created, located, read, listed, changed and deleted', async (t) => {
  const { get, post, put, delete: remove } = await build(t)
  const created = await post('/api/folder/', { name: 'new' }, { as: 'alice' })
  t.equal(created.statusCode, 201, created.body)
  const record = created.json<FolderRecord>()
  t.match(record.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'a UUID of version 7')
  t.strictSame(record, { id: record.id, owner_id: keys.alice, name: 'new', parent_id: null })
  t.equal(created.headers.location, `/api/folder/${record.id}/`)
  const url = String(created.headers.location)
  t.strictSame((await get(url)).json(), record)
  t.strictSame((await get('/api/folder/?name=new')).json(), {
    meta: { model: 'folder', page: 1, next: '', previous: '' }, objects: [record]
  })
  t.strictSame((await put(url, { name: 'newer', parent: third }, { as: 'alice' })).json(), {
    ...record, name: 'newer', parent_id: third
  })
  t.strictSame((await get(url)).json(), { ...record, name: 'newer', parent_id: third })
  t.equal((await remove(url, { as: 'alice' })).statusCode, 204)
  t.equal((await get(url)).statusCode, 404)
})

test('D-65: a key is a text in the record and in the references to it, and a number stays one', async (t) => {
  const { post } = await build(t)
  const { id } = (await post('/api/folder/', { name: 'x' }, { as: 'alice' })).json<FolderRecord>()
  const sheet = (await post('/api/sheet/', { folder: id, size: 7 })).json<RecordOf<typeof Sheet>>()
  t.equal(typeof sheet.id, 'number')
  t.strictSame(sheet, { id: sheet.id, folder_id: id, size: 7 })
})

test('D-65: keys that the plugin makes ascend with the time, so that new records come last', async (t) => {
  const { get, post } = await build(t, false)
  const { get: read, post: write } = await buildApp(t, {
    models: [Owned], register: (registry) => { registry.register(Owned, { auth: anybody }) }
  })
  t.equal((await post('/api/folder/', { name: 'x' }, { as: 'alice' })).statusCode, 401, 'nobody is there')
  t.strictSame((await get('/api/folder/')).json().objects, [])
  const before = Date.now()
  const made: string[] = []
  for (let count = 0; count < 30; count++) made.push((await write('/api/owned/', { name: String(count) })).json().id)
  t.strictSame(made.toSorted(), made)
  t.strictSame(valuesOf(await read(`/api/owned/?id__gte=${made[0]}&id__lt=${last}&limit=100`), 'id'), made)
  t.equal(new Set(made).size, 30)
  for (const id of made) {
    const time = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
    t.ok(time >= before && time <= Date.now() + 1000, `${id} tells its time`)
  }
})
test('D-65: lists are in the order of the keys, either way, and their links lead through all pages', async (t) => {
  const { get } = await build(t)
  t.strictSame(valuesOf(await get('/api/folder/'), 'id'), [...folders])
  t.strictSame(valuesOf(await get('/api/folder/?ordering=-id'), 'id'), folders.toReversed())
  t.strictSame(
    valuesOf(await get('/api/folder/?ordering=owner,-id'), 'id'), [last, second, third, first],
    'by the key of the owner'
  )
  t.strictSame(valuesOf(await get('/api/folder/?ordering=parent_id'), 'id'), [third, last, second, first], 'null first')
  const seen: unknown[] = []
  for (let url = '/api/folder/?limit=1&ordering=-id'; url !== ''; url = (await get(url)).json().meta.next) {
    seen.push(...valuesOf(await get(url), 'id'))
  }
  t.strictSame(seen, folders.toReversed())
})

test('D-65: a key is filtered by every comparison, in either case', async (t) => {
  const { get } = await build(t)
  const expected: Record<string, readonly string[]> = {
    [`id=${second}`]: [second],
    [`id=${second.toUpperCase()}`]: [second],
    [`id__eq=${missing}`]: [],
    [`id__ne=${second}`]: [first, third, last],
    [`id__in=${last},${first.toUpperCase()},${missing}`]: [first, last],
    'id__in=': [],
    [`id__lt=${second}`]: [first],
    [`id__lte=${second.toUpperCase()}`]: [first, second],
    [`id__gt=${second}`]: [third, last],
    [`id__gte=${third}`]: [third, last],
    [`id=${first}&id=${last}`]: [first, last],
    'id__is=null': []
  }
  for (const [query, ids] of Object.entries(expected)) {
    t.strictSame(valuesOf(await get(`/api/folder/?${query}`), 'id'), ids, query)
  }
})

test('D-65: a reference to a key is filtered by the key, by its parts, and through joins', async (t) => {
  const { get } = await build(t)
  const expected: Record<string, readonly number[]> = {
    [`folder=${first}`]: [1, 3],
    [`folder_id=${first.toUpperCase()}`]: [1, 3],
    [`folder__id=${last}`]: [2],
    [`folder__ne=${first}`]: [2],
    [`folder__gt=${first}&ordering=-size`]: [2],
    [`folder__in=${first},${last}`]: [1, 2, 3],
    'folder__name=a': [1, 3],
    [`folder__owner=${keys.bob}`]: [2],
    'folder__owner__username=alice': [1, 3],
    [`folder__parent__id__in=${third}`]: [1, 3],
    [`folder__parent__owner__id=${keys.alice}`]: [1, 3],
    'folder__parent__is=null': [2]
  }
  for (const [query, ids] of Object.entries(expected)) {
    t.strictSame(valuesOf(await get(`/api/sheet/?${query}`), 'id'), ids, query)
  }
})

test('D-65: a filter by what is no UUID is 400 before any statement', async (t) => {
  const { get, statements } = await build(t)
  for (const value of [
    '1', '', 'null', first.slice(1), `{${first}}`, first.replaceAll('-', ''), `${first} `, `g${first.slice(1)}`
  ]) {
    for (const name of ['id', 'id__lt', 'owner', 'parent__id', 'owner__id__in']) {
      const reply = await get(`/api/folder/?${name}=${encodeURIComponent(value)}`)
      if (name.endsWith('in') && value === '') continue
      t.match(
        [reply.statusCode, reply.json()],
        [400, { code: 'REST_MODELS_INVALID_VALUE', details: [{ field: name, message: 'must be a UUID' }] }],
        `${name}=${value}`
      )
    }
    t.equal((await get(`/api/sheet/?folder=${encodeURIComponent(value)}`)).statusCode, 400)
  }
  for (const query of [`id__like=${first}`, `folder__ilike=${first}`]) {
    t.equal((await get(`/api/sheet/?${query}`)).statusCode, 400, query)
  }
  t.strictSame(statements.filter(({ sql }) => !sql.includes('limit')), [], 'an empty list alone is asked for')
})

test('D-65: a reference in a body is a UUID of a record that is there, in either case', async (t) => {
  const { post, put } = await build(t)
  const accepted = await post('/api/sheet/', { folder: second.toUpperCase() })
  t.strictSame([accepted.statusCode, accepted.json().folder_id], [201, second])
  for (const folder of [missing, missing.toUpperCase()]) {
    for (const reply of [await post('/api/sheet/', { folder }), await put('/api/sheet/1/', { folder_id: folder })]) {
      t.match([reply.statusCode, reply.json()], [400, {
        code: 'REST_MODELS_UNKNOWN_REFERENCE',
        message: "'folder_id' refers to a record that does not exist",
        details: [{ field: 'folder_id' }]
      }])
    }
  }
  for (const folder of [
    1, '1', '', null, [second], { id: second }, second.slice(1), `${second}\0`, second.replaceAll('-', ''), true
  ]) {
    for (const reply of [await post('/api/sheet/', { folder }), await put('/api/sheet/1/', { folder })]) {
      t.match(
        [reply.statusCode, reply.json()],
        [400, { code: 'REST_MODELS_INVALID_RECORD', details: [{ field: 'folder' }] }], JSON.stringify(folder)
      )
    }
  }
  t.match(
    (await post('/api/sheet/', { folder: second, folder_id: first })).json(), { code: 'REST_MODELS_INVALID_RECORD' },
    'two names that contradict each other'
  )
})

test('D-65: an id finds its record in either case; what is no UUID is 404 before all but the login', async (t) => {
  const { app, get, put, delete: remove, statements, forget } = await build(t)
  const upper = third.toUpperCase()
  t.equal((await get(`/api/folder/${upper}/`)).json().id, third)
  t.equal((await get(`/api/folder/${third.replace('9a', '9A')}`)).json().id, third)
  t.equal((await put(`/api/folder/${upper}/`, { name: 'changed' }, { as: 'alice' })).json().name, 'changed')
  t.equal((await remove(`/api/folder/${upper}/`, { as: 'alice' })).statusCode, 204)
  t.equal((await get(`/api/folder/${third}/`)).statusCode, 404)
  t.equal((await app.inject({ method: 'HEAD', url: `/api/folder/${first}/` })).statusCode, 200)
  t.equal((await get(`/api/folder/${missing}/`)).json().code, 'REST_MODELS_RECORD_NOT_FOUND')
  forget()
  for (const id of [
    '1', '0', 'a', first.slice(1), `-${first.slice(1)}`, `%7B${first}%7D`, first.replaceAll('-', ''), `${first}%20`,
    `${first}0`, `g${first.slice(1)}`, 'null'
  ]) {
    t.match(
      [(await get(`/api/folder/${id}/`)).statusCode, (await get(`/api/folder/${id}/`)).json()],
      [404, { code: 'REST_MODELS_RECORD_NOT_FOUND' }], id
    )
    t.strictSame(statements, [])
    t.equal((await put(`/api/folder/${id}/`, { name: 'x' }, { as: 'alice' })).statusCode, 404, id)
    t.equal((await remove(`/api/folder/${id}/`, { as: 'alice' })).statusCode, 404, id)
    t.equal(statements.length, 2, 'two logins')
    forget()
  }
})

test('D-65: an id is not chosen by a client, and may be sent back unchanged', async (t) => {
  const { post, put, rowsOf } = await build(t)
  for (const id of [missing, first, 1, '', 'x', null]) {
    const reply = await post('/api/folder/', { id, name: 'x' }, { as: 'alice' })
    t.match(
      [reply.statusCode, reply.json()], [400, { code: 'REST_MODELS_INVALID_RECORD', details: [{ field: 'id' }] }],
      String(id)
    )
  }
  const record = (await put(`/api/folder/${first}/`, {}, { as: 'alice' })).json()
  for (const id of [first, first.toUpperCase()]) {
    t.strictSame((await put(`/api/folder/${first}/`, { ...record, id }, { as: 'alice' })).json(), record)
  }
  for (const id of [second, missing, 1, null]) {
    t.equal((await put(`/api/folder/${first}/`, { id }, { as: 'alice' })).statusCode, 400, String(id))
  }
  t.equal((await rowsOf('folder')).length, 4)
})

test('D-65: users with UUIDs log in, own what they create, and write nothing of others', async (t) => {
  const { post, put, delete: remove, get } = await build(t)
  const status = async (as: string | readonly [string, string]) =>
    (await post('/api/folder/', { name: 'x' }, { as })).statusCode
  t.strictSame([
    await status('alice'), await status('carol'), await status(['alice', 'bob']), await status('ALICE'),
    await status('nobody')
  ], [201, 401, 401, 401, 401])
  const mine = (await post('/api/folder/', { name: 'mine', owner: keys.bob }, { as: 'alice' })).json<FolderRecord>()
  t.equal(mine.owner_id, keys.alice, 'whatever a body says of the owner')
  for (const as of ['bob', 'admin']) {
    t.match((await put(`/api/folder/${mine.id}/`, { name: 'x' }, { as })).json(), {
      statusCode: 403, code: 'REST_MODELS_FORBIDDEN'
    })
    t.equal((await remove(`/api/folder/${mine.id}/`, { as })).statusCode, 403)
    t.equal((await remove(`/api/folder/${mine.id.toUpperCase()}/`, { as })).statusCode, 403)
  }
  t.equal(
    (await put(`/api/folder/${mine.id}/`, { owner: keys.bob }, { as: 'alice' })).statusCode, 400,
    'nothing is given away'
  )
  t.equal(
    (await put(`/api/folder/${mine.id}/`, { owner: keys.alice.toUpperCase(), name: 'still mine' }, { as: 'alice' }))
      .json().name,
    'still mine'
  )
  t.strictSame((await get(`/api/folder/${mine.id}/`)).json(), { ...mine, name: 'still mine' })
  t.equal((await put(`/api/member/${keys.bob}/`, { username: 'rob' }, { as: 'alice' })).statusCode, 403)
  t.equal((await put(`/api/member/${keys.bob}/`, { username: 'rob' }, { as: 'admin' })).json().id, keys.bob)
  t.equal(await status(['rob', 'bob']), 201)
})

test('D-65: deleting a record with a UUID is refused, takes others along or lets them go, as declared', async (t) => {
  const { delete: remove, rowsOf } = await build(t)
  const refused = await remove(`/api/member/${keys.alice}/`, { as: 'admin' })
  t.match([refused.statusCode, refused.json()], [409, { code: 'REST_MODELS_STILL_REFERENCED' }])
  t.equal((await remove(`/api/member/${keys.carol}/`, { as: 'admin' })).statusCode, 204)
  t.equal((await remove(`/api/folder/${first}/`, { as: 'alice' })).statusCode, 204)
  t.match(await rowsOf('folder'), [{ id: second, parent_id: null }, { id: third }, { id: last }])
  t.strictSame(await rowsOf('sheet'), [{ id: 2, folder_id: last, size: 2 }])
})

test('D-65: createTables makes primary keys of UUIDs, and references of the same type', async (t) => {
  const db = await openDatabase(t)
  await createTables(db, [Sheet, Folder, Owned, Member])
  const all = await definitions(db)
  const parts: Record<typeof engine, ReadonlyArray<readonly [table: string, part: string]>> = {
    sqlite: [
      ['folder', '"id" text not null primary key'], ['folder', '"parent_id" text,'],
      ['folder', 'foreign key ("parent_id") references "folder" ("id") on delete set null'],
      ['sheet', '"folder_id" text not null']
    ],
    postgres: [
      ['folder', 'id uuid not null'], ['folder', 'folder_pkey PRIMARY KEY (id)'], ['folder', 'parent_id uuid'],
      ['sheet', 'folder_id uuid not null']
    ],
    mariadb: [
      ['folder', '`id` char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL'], ['folder', 'PRIMARY KEY (`id`)'],
      ['folder', '`parent_id` char(36) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL'],
      ['sheet', '`folder_id` char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL']
    ]
  }
  const textOf = (table: string): string =>
    all.filter(([name]: Definition) => name === table).map(([, text]) => text).join('\n')
  for (const [table, part] of parts[engine]) t.ok(textOf(table).includes(part), `${table}: ${part} in ${textOf(table)}`)
  await t.rejects(db.insertInto('owned').values({ name: 'x' }).execute(), 'the database makes no such key')
  await t.rejects(
    db.insertInto('owned').values([{ id: first, name: 'x' }, { id: first, name: 'y' }]).execute(),
    'two records with one key'
  )
  await t.resolves(createTables(db, models), 'they fit the models that they were made for')
})

test('D-65: a table whose key is of the other kind does not fit', async (t) => {
  const db = await openDatabase(t)
  const Counted = defineModel('Owned', { name: text() })
  await createTables(db, [Owned])
  await t.rejects(createTables(db, [Counted]), {
    code: 'REST_MODELS_TABLE_MISMATCH', message: /field 'id' of model 'Owned' is key, but column 'id' is/
  })
  const other = await openDatabase(t)
  await createTables(other, [Counted])
  await t.rejects(createTables(other, [Owned]), {
    code: 'REST_MODELS_TABLE_MISMATCH', message: /field 'id' of model 'Owned' is uuid, but column 'id' is/
  })
})

test('D-65: a primary key is key(), uuid() or text() with few options, or is left out', async (t) => {
  const wrong: Record<string, Field> = {
    unique: uuid({ unique: true }),
    nullable: uuid({ nullable: true }),
    default: uuid({ default: first }),
    integer: integer(),
    foreignKey: foreignKey(() => Member)
  }
  for (const [name, id] of Object.entries(wrong)) {
    t.throws(() => defineModel('Thing', { id, name: text() }), {
      code: 'REST_MODELS_INVALID_MODEL',
      message: /field 'id' of model 'Thing' is the primary key.*, key\(\) or text\(\)\. The only options are 'column'/
    }, name)
  }
  t.doesNotThrow(() => defineModel('Thing', { id: uuid({}), name: text() }))
  t.strictSame(
    defineModel('Thing', { name: text(), id: uuid() }).columns.map(({ key }) => key), ['id', 'name'],
    'the key comes first'
  )
})
