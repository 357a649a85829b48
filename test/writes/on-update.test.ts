import { sql } from 'kysely'
import { test, type Test } from 'tap'
import {
  boolean, datetime, decimal, defineModel, foreignKey, integer, json, password, text, userAuth, type CreateOf,
  type RecordOf, type UpdateOf
} from '../../lib/index.js'
import { engine } from '../support/database.js'
import { beforeStatements } from '../support/interleaving.js'
import { buildApp, User, type Rows } from '../support/site.js'

const Team = defineModel('Team', { name: text() })
const fields = {
  title: text({ maxLength: 9 }),
  size: integer({ default: 1 }),
  price: decimal({ default: '1.50' }),
  done: boolean({ default: false }),
  extra: json({ nullable: true }),
  due: datetime({ nullable: true }),
  hidden: text({ default: 'secret' }),
  pin: password({ nullable: true }),
  team: foreignKey(() => Team, { nullable: true })
}
const Task = defineModel('Task', {
  ...fields,
  made: datetime({ default: 'now' }),
  changed: datetime({ default: 'now', onUpdate: 'now' }),
  also: datetime({ nullable: true, onUpdate: 'now' })
})
/** The same without a moment of the update. */
const Plain = defineModel('Plain', fields)

const old = '2020-01-01 00:00:00'
const values = { title: 'one', size: 3, price: 2.5, due: old, hidden: 'secret', team_id: 1 }
const rows: Rows = {
  team: [{ id: 1, name: 'a' }, { id: 2, name: 'b' }],
  task: [{ id: 1, ...values, extra: '{"a":1}', made: old, changed: old, also: null }],
  plain: [{ id: 1, ...values }]
}
const as = 'alice'

async function build (t: Test) {
  return await buildApp(t, {
    models: [User, Team, Task, Plain],
    rows,
    register: (registry) => {
      registry.register(Task, { auth: userAuth(User), exclude: ['hidden', 'pin'] })
      registry.register(Task, {
        auth: userAuth(User, { protect: 'all' }), path: 'mine', exclude: ['also'], scope: () => ({ team__name: 'a' })
      })
      registry.register(Plain, { auth: userAuth(User), exclude: ['hidden', 'pin'] })
    }
  })
}

/** True if a text is a moment of the last minute. */
function isNew (moment: string): boolean {
  const age = Date.now() - Date.parse(`${moment.replace(' ', 'T')}Z`)
  return age >= 0 && age < 60_000
}

test('D-153: every update that changes something sets the moment, the same one in all such fields', async (t) => {
  const { db, put, patch, get } = await build(t)
  for (const body of [
    { title: 'two' }, { size: 4 }, { price: '2.51' }, { done: true }, { extra: { a: 2 } }, { due: null }, { team: 2 },
    { hidden: 'secret' }, { pin: 'x' }, { title: 'one', size: 4 }
  ]) {
    for (const send of [put, patch]) {
      const before = { ...values, extra: '{"a":1}', done: sql.lit(false), changed: old, also: null }
      await db.updateTable('task').set(before).execute()
      const reply = await send('/api/task/1/', body, { as })
      const { changed, also, made } = reply.json()
      t.same([reply.statusCode, isNew(changed), also, made], [200, true, changed, old], JSON.stringify(body))
      t.same((await get('/api/task/1/')).json(), reply.json())
    }
  }
})

test('D-153: an update that changes nothing writes nothing', async (t) => {
  const { put, patch, statements, forget, rowsOf, get } = await build(t)
  const before = await rowsOf('task')
  const shown = (await get('/api/task/1/')).json()
  const { id, made, ...others } = shown
  forget()
  for (const body of [
    {}, { title: 'one' }, { size: 3 }, { price: '2.5' }, { done: false }, { extra: { a: 1 } }, { due: '2020-01-01' },
    { team: 1 }, { team_id: 1, title: 'one' }, shown, { id, made }, others
  ]) {
    for (const send of [put, patch]) {
      const reply = await send('/api/task/1/', body, { as })
      t.same([reply.statusCode, reply.json()], [200, shown], JSON.stringify(body))
    }
  }
  t.same(statements.filter(({ sql }) => !sql.startsWith('select')), [])
  t.same(await rowsOf('task'), before)
})

test('D-153: an update that another request makes first writes nothing, and does not move the moment', async (t) => {
  const { db, put, rowsOf } = await build(t)
  const theirs = '2021-01-01 00:00:00'
  let written: string | undefined
  await beforeStatements(t, db, async (text, execute) => {
    if (!text.startsWith('update') || written === undefined) return
    const theirUpdate = db.updateTable('task').set({ title: written, changed: theirs, also: theirs }).compile()
    written = undefined
    await execute(theirUpdate)
  })
  for (const [path, changed, also] of [['task', old, null], ['task', old, old], ['mine', old, null]] as const) {
    for (const title of ['two', 'three']) {
      await db.updateTable('task').set({ title: 'one', changed, also }).execute()
      written = title
      const reply = await put(`/api/${path}/1/`, { title: 'two' }, { as })
      const isEqual = title === 'two'
      t.match([reply.statusCode, reply.json()], [200, { title: 'two' }], `${path} ${title}`)
      t.same([reply.json().changed === theirs, isNew(reply.json().changed)], [isEqual, !isEqual], `${path} ${title}`)
      const [row] = (await rowsOf('task')) as [{ title: string, also: string | Date }]
      t.equal(row.title, 'two')
      t.equal(new Date(row.also).getFullYear() === 2021, isEqual)
    }
  }
})

test('D-153: a resource without such a field runs the statements that it ran before', async (t) => {
  const { put, statements, forget } = await build(t)
  forget()
  t.equal((await put('/api/plain/1/', { title: 'one', size: 3, done: true }, { as })).statusCode, 200)
  const change = engine === 'mariadb' ? ['begin', 'update', 'select', 'commit'] : ['update']
  t.same(statements.map(({ sql }) => sql.split(' ')[0]), ['select', 'select', ...change], 'the user, the record')
})

test('D-153: within a scope, and where the field is not shown, it is set as well', async (t) => {
  const { put, rowsOf } = await build(t)
  const reply = await put('/api/mine/1/', { title: 'two', team: 1 }, { as })
  t.same([reply.statusCode, isNew(reply.json().changed), 'also' in reply.json()], [200, true, false])
  const [{ also }] = (await rowsOf('task')) as [{ also: string | Date | null }]
  t.not(also, null)
  t.equal((await put('/api/mine/1/', { team: 2 }, { as })).statusCode, 403)
  t.equal((await put('/api/mine/1/', { also: old }, { as })).json().details[0].message,
    'is not a field of this resource')
})

test('D-154: on POST the field is a fault, and a record begins with its default', async (t) => {
  const { post, rowsOf } = await build(t)
  for (const name of ['changed', 'also']) {
    for (const value of [old, 'x', null]) {
      const reply = await post('/api/task/', { title: 'x', [name]: value }, { as })
      t.match([reply.statusCode, reply.json().details], [400, [{ field: name }]], `${name} ${value}`)
    }
  }
  t.match((await post('/api/task/', { title: 'x', changed: old }, { as })).json().details, [
    { field: 'changed', message: 'is set by the server' }
  ])
  t.same((await rowsOf('task')).length, 1)
  const { changed, also, made } = (await post('/api/task/', { title: 'x' }, { as })).json()
  t.same([isNew(changed), also, changed], [true, null, made])
})

test('D-154: an update may repeat the field as it is shown, and any other value is a fault', async (t) => {
  const { put, patch, rowsOf } = await build(t)
  for (const send of [put, patch]) {
    for (const changed of ['2020-01-01 00:00:01', null, 'x', 1]) {
      const reply = await send('/api/task/1/', { title: 'x', changed }, { as })
      t.match([reply.statusCode, reply.json().details], [400, [{ field: 'changed' }]], String(changed))
    }
    t.match((await send('/api/task/1/', { changed: '2021-01-01' }, { as })).json().details, [
      { field: 'changed', message: 'cannot be changed' }
    ])
  }
  t.match(await rowsOf('task'), [{ title: 'one' }])
  const repeated = await put('/api/task/1/', { title: 'x', changed: '2020-01-01T00:00:00Z', also: null }, { as })
  t.same([repeated.statusCode, isNew(repeated.json().changed)], [200, true])
})

test('D-153: a record is not touched by a refused update', async (t) => {
  const { put, rowsOf } = await build(t)
  const before = await rowsOf('task')
  for (const [body, status] of [
    [{ title: 'too long for it' }, 400], [{ team: 9 }, 400], [{ nothing: 1, title: 'x' }, 400]
  ] as const) {
    t.equal((await put('/api/task/1/', body, { as })).statusCode, status)
  }
  t.equal((await put('/api/task/1/', { title: 'x' })).statusCode, 401)
  t.same(await rowsOf('task'), before)
})

test('D-155: onUpdate is an option of datetime(), is now, and needs a first value', async (t) => {
  const define = (field: unknown) => () => defineModel('Thing', { title: text(), at: field as ReturnType<typeof text> })
  for (const [options, message] of [
    [{ onUpdate: 'now' }, /field 'at'.*'onUpdate' needs default: 'now', or must be 'nullable'/],
    [{ onUpdate: 'later', default: 'now' }, /'onUpdate' is 'now'/], [{ onUpdate: true, nullable: true }, /is 'now'/]
  ] as const) {
    t.throws(define({ kind: 'datetime', options }), { code: 'REST_MODELS_INVALID_MODEL', message })
  }
  t.throws(define({ kind: 'date', options: { default: 'now', onUpdate: 'now' } }), { message: /onUpdate/ })
  for (const options of [{ default: 'now' }, { nullable: true }, { default: old }, { nullable: true, default: null }]) {
    t.doesNotThrow(define(datetime({ ...options, onUpdate: 'now' } as never)))
  }
})

test('D-154: the types of bodies do not have the field, those of records do', async (t) => {
  const record: Pick<RecordOf<typeof Task>, 'changed' | 'also'> = { changed: old, also: null }
  // @ts-expect-error -- the server sets it
  const created: CreateOf<typeof Task> = { title: 'x', changed: old }
  // @ts-expect-error -- the server sets it
  const change: UpdateOf<typeof Task> = { also: null }
  t.ok(record && created && change)
})
