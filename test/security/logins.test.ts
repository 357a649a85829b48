import { test } from 'tap'
import { attack } from './security-helper.js'

test('T-53: names and passwords beyond ASCII work', async (t) => {
  const { post, put } = await attack(t)
  await post('/api/user/', { username: 'zoë', password: 'пароль🔑:x', email: '' }, { as: 'admin' })
  t.equal((await put('/api/message/1/', {}, { as: ['zoë', 'пароль🔑:x'] })).statusCode, 403)
  t.equal((await put('/api/message/1/', {}, { as: ['zoë', 'пароль🔑'] })).statusCode, 401)
})

test('T-56: an unknown, an inactive and a hash-less user are answered as a wrong password is', async (t) => {
  const { put, db, unchanged } = await attack(t)
  await db.updateTable('user').set({ password: 'plain' }).where('id', '=', 3).execute()
  const answer = async (as: readonly [string, string]) => {
    const { statusCode, body, headers: { date: _, ...headers } } =
      await put('/api/message/1/', { content: 'x' }, { as })
    return { statusCode, body, headers }
  }
  const wrong = await answer(['alice', 'wrong'])
  t.equal(wrong.statusCode, 401)
  await unchanged(async () => {
    for (const as of [
      ['nobody', 'x'], ['carol', 'carol'], ['carol', 'x'], ['bob', 'plain'], ['bob', 'bob'], ['admin', ''], ['', '']
    ] as const) {
      t.same(await answer(as), wrong, as.join(':'))
    }
  })
  t.equal((await answer(['alice', 'alice'])).statusCode, 200)
})

test('T-59: what a login rests on is looked at in every request', async (t) => {
  const { put, delete: remove, rowsOf, db } = await attack(t)
  const asBob = async () => (await put('/api/message/2/', {}, { as: 'bob' })).statusCode
  const asAdmin = async () => (await put('/api/user/4/', {}, { as: 'admin' })).statusCode
  t.equal(await asBob(), 200)
  await put('/api/user/3/', { active: false }, { as: 'admin' })
  t.equal(await asBob(), 401, 'deactivated')
  await put('/api/user/3/', { active: true }, { as: 'admin' })
  t.equal(await asBob(), 200)
  await put('/api/user/3/', { password: 'new' }, { as: 'admin' })
  t.equal(await asBob(), 401, 'another password')
  t.equal((await put('/api/message/2/', {}, { as: ['bob', 'new'] })).statusCode, 200)
  await put('/api/user/3/', { username: 'rob' }, { as: 'admin' })
  t.equal((await put('/api/message/2/', {}, { as: ['bob', 'new'] })).statusCode, 401, 'renamed')
  t.equal((await put('/api/message/2/', {}, { as: ['rob', 'new'] })).statusCode, 200)
  t.equal(await asAdmin(), 200)
  await db.updateTable('user').set({ admin: 0 }).where('id', '=', 1).execute()
  t.equal(await asAdmin(), 403, 'demoted')
  await db.updateTable('user').set({ admin: 1 }).where('id', '=', 1).execute()
  for (const table of ['relationship', 'message']) await db.deleteFrom(table).execute()
  t.equal((await remove('/api/user/3/', { as: 'admin' })).statusCode, 204)
  t.equal((await put('/api/message/2/', {}, { as: ['rob', 'new'] })).statusCode, 401, 'deleted')
  t.equal((await rowsOf('user')).length, 3)
})

test('T-60: what is stored of a password is no password', async (t) => {
  const { put, rowsOf, db } = await attack(t)
  const stored = (await rowsOf('user') as Array<{ username: string, password: string }>)
    .map(({ username, password }) => [username, password] as const)
  for (const as of stored) t.equal((await put('/api/message/1/', {}, { as })).statusCode, 401)
  for (const password of [
    'plain', '', '$argon2id$', '$argon2id$v=19$m=1,t=1,p=1$c2FsdHNhbHQ$', '$2b$10$abcdefghijklmnopqrstuu',
    '5f4dcc3b5aa765d61d8327deb882cf99'
  ]) {
    await db.updateTable('user').set({ password }).where('id', '=', 3).execute()
    t.equal((await put('/api/message/2/', {}, { as: ['bob', password] })).statusCode, 401, password)
  }
  t.equal((await put('/api/message/1/', {}, { as: 'alice' })).statusCode, 200)
})

test('T-61: only a salted hash of a password is stored', async (t) => {
  const { post, put, rowsOf } = await attack(t, { realHashes: true })
  for (const username of ['dora', 'eve']) {
    await post('/api/user/', { username, password: 'same pa55word', email: '' }, { as: 'admin' })
  }
  await put('/api/user/3/', { password: 'same pa55word' }, { as: 'admin' })
  const rows = await rowsOf('user') as Array<{ password: string }>
  t.notMatch(JSON.stringify(rows), /pa55word/)
  for (const { password } of rows) t.match(password, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.equal(new Set(rows.map(({ password }) => password)).size, rows.length)
  t.equal((await put('/api/message/2/', {}, { as: ['bob', 'same pa55word'] })).statusCode, 200)
})

test('T-63: a name is what is stored, to the character', async (t) => {
  const { put, unchanged } = await attack(t)
  await unchanged(async () => {
    for (const name of [
      'alice\0', 'alice\0x', 'ALICE', 'ali%', 'alic_', 'ali*', "alice' or '1'='1", 'alice--', ' alice', 'alice ', '2',
      'alice\u0301', 'al\u0131ce'
    ]) {
      t.equal((await put('/api/message/1/', { content: 'a' }, { as: [name, 'alice'] })).statusCode, 401, name)
    }
  })
  t.equal((await put('/api/message/1/', { content: 'a' }, { as: ['alice', 'alice'] })).statusCode, 200)
})
