import { test } from 'tap'
import { adminAuth, defineModel, foreignKey, text, userAuth, type ResourceRegistry } from '../../lib/index.js'
import { Message, Note, Relationship, siteModels, User } from '../support/site.js'
import { attack, siteRows } from './security-helper.js'

/** A text that matches every hidden value, and one that matches none. */
const pair = ['%25', 'nothing']
const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in', 'is', 'like', 'ilike']

test('T-01: a filter does not tell an excluded field', async (t) => {
  const { hides, get, ids } = await attack(t)
  for (const as of ['admin', 'alice', undefined]) {
    await hides('password__like', ['%24%25', 'x'], as === undefined ? {} : { as })
    await hides('email', ['alice%40example.com', 'x'], as === undefined ? {} : { as })
  }
  t.same(await ids('/api/user/?username__like=ali%25'), [2], 'a field that is not excluded can be filtered by')
  t.equal((await get('/api/user/?email=x')).json().code, 'REST_MODELS_UNKNOWN_PARAMETER')
})

test('T-02: no operator tells an excluded field', async (t) => {
  const { hides, get } = await attack(t)
  for (const operator of operators) {
    for (const field of ['password', 'email']) await hides(`${field}__${operator}`, pair)
    t.equal((await get(`/api/user/?username__${operator}=null`)).statusCode, 200)
  }
})

test('T-03: a filter through a join does not tell an excluded field', async (t) => {
  const { hides, ids } = await attack(t)
  const chains = { '/api/message/': ['user', 'user_id'], '/api/relationship/': ['from_user', 'to_user', 'to_user_id'] }
  for (const [path, names] of Object.entries(chains)) {
    for (const name of names) {
      await hides(`${name}__password__like`, ['%24%25', 'x'], { path })
      await hides(`${name}__email`, ['alice%40example.com', 'x'], { path })
      t.same(await ids(`${path}?${name}__username=nobody`), [])
      t.equal((await ids(`${path}?${name}__username=alice`)).length, 1)
    }
  }
})

test('T-04: a test for null does not tell an excluded field', async (t) => {
  const { hides, ids } = await attack(t)
  await hides('email__is', ['null', 'none', 'true', 'x'])
  await hides('email__ne', ['x', 'alice%40example.com'])
  t.same(await ids('/api/user/?username__is=null'), [])
})

test('T-05: an ordering does not tell an excluded field', async (t) => {
  const { get, ids, forget, statements } = await attack(t)
  const unknown = await get('/api/user/?ordering=nowhere')
  forget()
  for (const name of ['password', '-password', 'email', '-email']) {
    const reply = await get(`/api/user/?ordering=${name}`)
    t.equal(reply.statusCode, 400)
    t.equal(reply.body, unknown.body)
  }
  t.same(statements, [])
  t.same(await ids('/api/user/?ordering=-username'), [4, 3, 2, 1])
})

test('T-06: nor does an ordering through a join, in a list or with more words', async (t) => {
  const { get, ids } = await attack(t)
  const orderings = [
    'user__password', 'user_id__password', 'user__username', 'content,user__email', '-content,-user__password',
    'password%20desc', 'content%20desc', 'content,,id', '--content', '%2Bcontent', 'content%3Bpassword'
  ]
  for (const ordering of orderings) t.equal((await get(`/api/message/?ordering=${ordering}`)).statusCode, 400, ordering)
  for (const ordering of ['admin,-password', 'email,id']) {
    t.equal((await get(`/api/user/?ordering=${ordering}`)).statusCode, 400, ordering)
  }
  t.same(await ids('/api/user/?ordering=admin,-username'), [4, 3, 2, 1])
})

test('T-07: neither the count of records nor the links tell an excluded field', async (t) => {
  const { get, hides } = await attack(t)
  for (const name of ['email__like', 'password__like', 'email__gt']) {
    await hides(name, ['%25&limit=1', 'x&limit=1', '%25&limit=1&page=2'])
  }
  t.match((await get('/api/user/?username__like=%25&limit=1')).json().meta, { next: /page=2/ })
  t.match((await get('/api/user/?username__like=x&limit=1')).json().meta, { next: '' })
})

test('T-08: no other spelling reaches an excluded field', async (t) => {
  const { get, ids } = await attack(t)
  const spellings = [
    'PASSWORD', 'Password', '"password"', '`password`', '[password]', "'password'", 'password%00', '%20password',
    'password%20', 'user.password', 't0.password', 'main.user.password', 'id__password', 'user__id__password',
    'filter[password][like]', 'password[like]', 'where[password][$startsWith]', 'password%5F%5Flike',
    'password%255F%255Flike', '%70assword', '__password', 'password__', 'password____like', 'password__id',
    'password__like__like', 'passw%C3%B6rd', 'p%EF%BD%81ssword', 'password%2F**%2F', '-password', '$password',
    'password;like'
  ]
  for (const path of ['/api/user/?', '/api/message/?user__', '/api/relationship/?to_user__']) {
    for (const spelling of spellings) {
      const [all, none] = await Promise.all([get(`${path}${spelling}=%25`), get(`${path}${spelling}=x`)])
      t.equal(all.statusCode, 400, path + spelling)
      t.equal(none.body, all.body)
    }
  }
  t.same(await ids('/api/user/?%75sername%5F%5Flike=ali%25'), [2], 'an open field may be written with escapes')
})

test('T-09: an unknown parameter is refused and never changes the shape of a record', async (t) => {
  const { get, app } = await attack(t)
  const parameters = [
    'where[user][password]=x', 'select=password', 'populate=*', 'fields=password', 'include=password', 'expand=user',
    '_fields=email', 'columns=*', 'group_by=email', 'distinct=email', 'having=1', 'offset=1', 'sort=email',
    'order_by=email', '$where=1', 'filter={}', 'q=a', '=', '%5B%5D=1', 'or=1'
  ]
  for (const path of ['/api/user/', '/api/message/', '/api/user/2/', '/api/note/1/']) {
    for (const parameter of parameters) {
      t.equal((await get(`${path}?${parameter}`)).statusCode, 400, `${path}?${parameter}`)
    }
  }
  const declared = ['id', 'username', 'join_date', 'active', 'admin']
  const { objects } = (await get('/api/user/?username__ne=x&ordering=username&limit=3')).json()
  t.equal(objects.length, 3)
  for (const record of [...objects, (await get('/api/user/2/')).json()]) t.same(Object.keys(record), declared)
  t.equal((await app.inject({ url: '/api/user/', query: { 'where[password]': 'x' } })).statusCode, 400)
})

test('T-10: the excludes of a related resource hold through joins, in any order of registration', async (t) => {
  const steps: Array<(registry: ResourceRegistry) => void> = [
    (registry) => registry.register(User, { auth: adminAuth(User), exclude: ['email'] }),
    (registry) => registry.register(Message, { auth: userAuth(User), ownerField: 'user' })
  ]
  for (const order of [steps, steps.toReversed()]) {
    const { hides, ids } = await attack(t, { register: (registry) => { for (const step of order) step(registry) } })
    await hides('user__email', ['alice%40example.com', 'x'], { path: '/api/message/' })
    await hides('user__password__like', pair, { path: '/api/message/' })
    t.same(await ids('/api/message/?user__admin=true'), [3])
  }
})

test('T-11: of several resources of a related model, the excludes of the first hold', async (t) => {
  const { hides, ids, get } = await attack(t, {
    register: (registry) => registry
      .register(User, { path: 'members', exclude: ['password', 'email', 'admin'] })
      .register(User, { path: 'people', exclude: ['password'] })
      .register(Message)
  })
  await hides('user__email', ['alice%40example.com', 'x'], { path: '/api/message/' })
  await hides('user__admin', ['true', 'false'], { path: '/api/message/' })
  await hides('email', ['alice%40example.com', 'x'], { path: '/api/members/' })
  t.same(await ids('/api/message/?user__username=alice'), [1])
  t.same(await ids('/api/people/?email=alice@example.com'), [2])
  t.notOk(Object.hasOwn((await get('/api/members/2/')).json(), 'admin'))
})

test('T-12: of a related model without a resource only the id can be filtered by', async (t) => {
  const Vault = defineModel('Vault', { code: text(), owner: foreignKey(() => User) })
  const Item = defineModel('Item', { name: text(), vault: foreignKey(() => Vault) })
  const { hides, ids } = await attack(t, {
    models: [...siteModels, Vault, Item],
    register: (registry) => registry.register(Item),
    rows: { vault: [{ id: 5, code: 'secret', owner_id: 2 }], item: [{ id: 1, name: 'a', vault_id: 5 }] }
  })
  for (const name of [
    'vault__code', 'vault__code__like', 'vault__owner', 'vault__owner_id', 'vault__owner__id',
    'vault__owner__username'
  ]) {
    await hides(name, ['secret', '2', '%25'], { path: '/api/item/' })
  }
  t.same(await ids('/api/item/?vault=5&vault__id=5'), [1])
  t.same(await ids('/api/item/?vault__id=6'), [])
})

test('T-13: an answer to a write does not give excluded fields back', async (t) => {
  const { post, put } = await attack(t)
  const created =
    await post('/api/user/', { username: 'dora', password: 'pa55word', email: 'dora@example.com' }, { as: 'admin' })
  t.equal(created.statusCode, 201)
  const updated = await put('/api/user/3/', {}, { as: 'admin' })
  const changed = await put('/api/user/3/', { email: 'new@example.com' }, { as: 'admin' })
  for (const reply of [created, updated, changed]) {
    t.same(Object.keys(reply.json()), ['id', 'username', 'join_date', 'active', 'admin'])
    t.notMatch(reply.body, /pa55word|example\.com/)
  }
  const taken =
    await post('/api/user/', { username: 'alice', password: 'pa55word', email: 'z@example.com' }, { as: 'admin' })
  t.equal(taken.statusCode, 409)
  t.notMatch(taken.body, /alice|pa55word|example\.com|user\./)
})

test('T-14: errors speak of a hidden field as of one that does not exist', async (t) => {
  const { get, post } = await attack(t)
  const words = async (url: string, name: string) => (await get(`${url}${name}=1`)).body.replaceAll(name, '?')
  t.equal(await words('/api/user/?', 'password'), await words('/api/user/?', 'passwordx'))
  t.equal(await words('/api/user/?', 'password__eq'), await words('/api/user/?', 'passwordx__eq'))
  t.equal(await words('/api/user/?', 'password__regexp'), await words('/api/user/?', 'passwordx__regexp'))
  t.equal(await words('/api/user/?', 'email__email'), await words('/api/user/?', 'emailx__email'))
  t.equal(await words('/api/message/?', 'user__email'), await words('/api/message/?', 'user__emailx'))
  t.equal(await words('/api/message/?', 'user__email__x'), await words('/api/message/?', 'user__emailx__x'))
  t.not(await words('/api/user/?', 'username__regexp'), await words('/api/user/?', 'usernamex__regexp'))
  t.equal((await post('/api/user/', { email: 1 })).statusCode, 401, 'what a body may hold is told to nobody else')
})

test('T-15: a filter by a hidden field is refused before any statement', async (t) => {
  const { get, forget, statements } = await attack(t)
  for (const url of [
    '/api/user/?password=1', '/api/message/?content=a&user__email=1', '/api/user/?ordering=id,email',
    '/api/message/?limit=1&user__password__like=%25'
  ]) {
    await get(url)
    t.equal(statements.length, 0, url)
  }
  await get('/api/user/?username=1')
  t.equal(statements.length, 1)
  forget()
  await get('/api/note/?message=1')
  t.equal(statements.length, 1)
})

test('T-15: an ordering by the primary key is no way around the allow list', async (t) => {
  const Hidden = defineModel('Hidden', { note: foreignKey(() => Note), peer: foreignKey(() => Relationship) })
  const { get, ids } = await attack(t, {
    models: [...siteModels, Hidden],
    register: (registry) => registry.register(Hidden, { exclude: ['note'] }),
    rows: { hidden: [] }
  })
  for (const url of ['?note=1', '?note_id=1', '?note__id=1', '?ordering=note', '?ordering=note_id']) {
    t.equal((await get(`/api/hidden/${url}`)).statusCode, 400, url)
  }
  t.same(await ids('/api/hidden/?peer=1&ordering=peer_id'), [])
})

test('T-135: a search does not tell an excluded field', async (t) => {
  const { get, ids } = await attack(t, {
    models: siteModels,
    rows: siteRows,
    register: (registry) => {
      registry.register(User, { auth: adminAuth(User), exclude: ['password', 'email'], search: ['username'] })
      registry.register(Message, { search: ['content'] })
    }
  })
  t.same(await ids('/api/user/?search=ALI'), [2])
  const nothing = await get('/api/user/?search=nothing&count=true')
  for (const words of ['example.com', 'alice@example', 'argon2', '%24', '@', '2024', 'true']) {
    const reply = await get(`/api/user/?search=${words}&count=true`)
    t.same([reply.statusCode, reply.body], [200, nothing.body], words)
  }
  t.same(await ids('/api/message/?search=alice%40example.com'), [])
  const unknown = (await get('/api/message/1/?x=a')).body.replaceAll("'x'", "'search'").replace('"x"', '"search"')
  t.equal((await get('/api/message/1/?search=a')).body, unknown)
})
