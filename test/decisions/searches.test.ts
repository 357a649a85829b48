// @servers: texts are compared by the engine

import { test, type Test } from 'tap'
import {
  defineModel, foreignKey, hostAuth, integer, json, password, text, type Model, type ResourceOptions
} from '../../lib/index.js'
import { engine } from '../support/database.js'
import { buildApp, User, valuesOf, type TestApp } from '../support/site.js'

const Person = defineModel('Person', {
  name: text(),
  nick: text({ nullable: true, column: 'select' }),
  email: text({ nullable: true }),
  age: integer({ nullable: true }),
  pin: password({ nullable: true }),
  notes: json({ nullable: true }),
  boss: foreignKey(() => User, { nullable: true })
})
const people: ReadonlyArray<Record<string, string | number | null>> = [
  { id: 1, name: 'Ann Lee', select: 'annie', email: 'ann@example.com' },
  { id: 2, name: 'Leopold', select: null, email: 'secret' },
  { id: 3, name: '100 % sure', select: 'a_b\\c', email: null },
  { id: 4, name: '100 sure', select: 'aXb/c', email: null },
  { id: 5, name: 'null', select: '', email: null }
]

async function persons (
  t: Test, options: ResourceOptions<typeof Person> = { search: ['name', 'nick'] }, rows = people
): Promise<TestApp & { readonly find: (text: string, others?: string) => Promise<unknown> }> {
  const app = await buildApp(t, {
    models: [User, Person],
    rows: { person: rows },
    options: { limits: { inItems: 3, patternLength: 12 } },
    register: (registry) => { registry.register(Person, options).register(User, { exclude: ['password'] }) }
  })
  const find = async (text: string, others = ''): Promise<unknown> => {
    const reply = await app.get(`/api/person/?search=${encodeURIComponent(text)}${others}`)
    return reply.statusCode === 200 ? valuesOf(reply, 'id') : reply.json().details[0].message
  }
  return { ...app, find }
}

test('D-173: each word must occur somewhere in one of the fields, whatever the case of ASCII letters', async (t) => {
  const { find } = await persons(t)
  t.same(await find('lee'), [1])
  t.same(await find('LE'), [1, 2])
  t.same(await find('lee annie'), [1], 'in different fields')
  t.same(await find('ann leopold'), [], 'but all of them')
  t.same(await find('ann ann'), [1])
  t.same(await find('100 a'), [3, 4])
  t.same(await find('null'), [5], 'null is no text')
  t.same(await find('example'), [], 'other fields are not looked at')
})

test('D-173: %, _, backslashes, quotes and stars are ordinary characters', async (t) => {
  const { find } = await persons(t)
  t.same(await find('%'), [3])
  t.same(await find('_'), [3])
  t.same(await find('a_b'), [3])
  t.same(await find('\\'), [3])
  t.same(await find('b\\c'), [3])
  t.same(await find('\\\\'), [])
  t.same(await find('\\%'), [])
  for (const text of ['*', '[a-z]', '?', "'", '"', "' or '1'='1", '%%', '\\n']) t.same(await find(text), [], text)
})

test('D-173: white space of any kind separates words, and a search without a word is absent', async (t) => {
  const { get, find, statements, forget } = await persons(t)
  for (const space of [' ', '  ', '\t', '\n', '\u00a0', '\u3000']) {
    t.same(await find(`lee${space}ann`), [1], JSON.stringify(space))
    forget()
    t.same(await find(space), [1, 2, 3, 4, 5])
    t.notMatch(statements[0]?.sql, / like /)
  }
  t.same(valuesOf(await get('/api/person/?search=lee+ann'), 'id'), [1])
  t.same(valuesOf(await get('/api/person/?search='), 'id'), [1, 2, 3, 4, 5])
  t.same(valuesOf(await get('/api/person/?search'), 'id'), [1, 2, 3, 4, 5])
})

test('D-173: at most five words, each as long as a pattern may be', async (t) => {
  const { get, find, statements, forget } = await persons(t)
  t.same(await find('a n e l i'), [1])
  t.same(await find('a'.repeat(12)), [])
  t.same(await find('%'.repeat(12)), [], 'characters that are escaped count as one')
  forget()
  t.equal(await find('a a a a a a'), 'must have at most 5 words')
  t.equal(await find('a '.repeat(1000)), 'must have at most 5 words')
  t.equal(await find(`a ${'a'.repeat(13)}`), 'must have words of at most 12 characters')
  t.match(await find('a\0'), /^must be text without NUL/)
  t.match((await get('/api/person/?search=a&search=b')).json(), {
    statusCode: 400,
    code: 'REST_MODELS_INVALID_VALUE',
    details: [{ field: 'search', message: 'must be given once' }]
  })
  t.match((await get('/api/person/?search=&search=')).json(), { code: 'REST_MODELS_INVALID_VALUE' })
  t.same(statements, [])
})

test('D-173: filters, orderings, pages, cursors and count go with a search, and links repeat it', async (t) => {
  const { get, find } = await persons(t)
  t.same(await find('s', '&ordering=-id'), [4, 3])
  t.same(await find('0', '&name__like=%25sure&nick__is=notnull'), [3, 4])
  t.same(await find('0', '&boss__username=alice'), [])
  const seen: unknown[] = []
  for (const place of ['', '&after=']) {
    let url = `/api/person/?search=${encodeURIComponent('n l')}&ordering=-name&limit=1&count=true${place}`
    for (; url !== ''; url = (await get(url)).json().meta.next) {
      const reply = await get(url)
      seen.push(...valuesOf(reply, 'id'))
      t.match(reply.json().meta, { count: 2, capped: false })
      if (reply.json().meta.next !== '') t.match(reply.json().meta.next, /&search=n%20l&ordering=-name&count=true$/)
    }
  }
  t.same(seen, [5, 1, 5, 1])
  const { next } = (await get('/api/person/?search=%20&limit=1')).json().meta
  t.equal(next, '/api/person/?limit=1&page=2', 'an absent search is not repeated')
})

test('D-173: a search of many columns after a cursor is one branch, and finds the same', async (t) => {
  const names = Array.from({ length: 14 }, (_, index) => `text${index}`)
  const Wide: Model = defineModel('Wide', {
    rank: integer(), ...Object.fromEntries(names.map((name) => [name, text({ default: 'x', maxLength: 20 })]))
  })
  const { get, statements, forget } = await buildApp(t, {
    models: [Wide],
    rows: { wide: Array.from({ length: 6 }, (_, index) => ({ id: index + 1, rank: index % 2, text13: 'a b c d e' })) },
    register: (registry) => { registry.register(Wide, { search: names }) }
  })
  for (const [words, branches] of [['a', 2], ['a b c d e', 1]] as const) {
    const seen: unknown[] = []
    for (let query = `limit=2&ordering=rank&after=&search=${words}`; query !== '';) {
      forget()
      const reply = await get(`/api/wide/?${query.replaceAll(' ', '+')}`)
      seen.push(...valuesOf(reply, 'id'))
      if (seen.length > 2) t.equal(statements[0]?.sql.split('limit').length, branches === 1 ? 2 : 4)
      query = reply.json().meta.next.split('?')[1] ?? ''
    }
    t.same(seen, [1, 3, 5, 2, 4, 6])
  }
})

test('D-173: characters that an engine could confuse are told apart', async (t) => {
  const names = ['\ufffd', '\ufffe', '\uffff', '\u{1f600}', 'é', 'E\u0301']
  const { find } = await persons(
    t, { search: ['name'] }, names.map((name, index) => ({ id: index + 1, name, select: null, email: null })))
  for (const [index, name] of names.entries()) {
    if (engine === 'mariadb' && name === 'é') continue
    t.same(await find(name), [index + 1], JSON.stringify(name))
  }
})

test('D-174: without the option, search is an unknown parameter, and search__eq a filter of a field', async (t) => {
  const Page = defineModel('Page', { search: text(), count: integer(), hidden: text() })
  const Plain = defineModel('Plain', { title: text() })
  const { get } = await buildApp(t, {
    models: [Page, Plain],
    rows: { page: [{ id: 1, search: 'a', count: 5, hidden: 'h' }, { id: 2, search: 'b', count: 6, hidden: 'h' }] },
    register: (registry) => {
      registry.register(Page, { exclude: ['hidden'] })
      registry.register(Plain)
      registry.register(Page, { path: 'closed', exclude: ['search', 'hidden'] })
      registry.register(Page, { path: 'searched', search: ['search'] })
    }
  })
  t.same(valuesOf(await get('/api/page/?search__eq=b'), 'id'), [2])
  t.same(valuesOf(await get('/api/page/?count__eq=5'), 'id'), [1])
  t.same(valuesOf(await get('/api/page/?count__gt=5&search__in=b&ordering=-count,search'), 'id'), [2])
  t.same(valuesOf(await get('/api/searched/?search=B&search__ne=a'), 'id'), [2])
  const unknown = 'is not a parameter of this resource'
  for (const query of ['search=b', 'search', 'search=&search=', `search=${'a+'.repeat(9)}`]) {
    for (const [path, message] of [
      ['page', `${unknown}, did you mean 'search__eq'?`], ['plain', unknown], ['closed', unknown]
    ] as const) {
      t.match((await get(`/api/${path}/?${query}`)).json(), {
        statusCode: 400, code: 'REST_MODELS_UNKNOWN_PARAMETER', details: [{ field: 'search', message }]
      }, path)
    }
  }
  t.equal((await get('/api/plain/?serch=a')).json().details[0].message, unknown, 'nor is it suggested')
  t.match((await get('/api/searched/?serch=a')).json().details[0].message, /did you mean 'search'/)
  t.match((await get('/api/searched/1/?search=a')).json(), { code: 'REST_MODELS_UNKNOWN_PARAMETER' })
})

const wrongOptions: ReadonlyArray<readonly [options: object, message: RegExp]> = [
  [{ search: 'name' }, /'search' of resource 'Person' must be a list of names/],
  [{ search: [] }, /'search' of resource 'Person' is empty: name text fields, or leave it out/],
  [{ search: ['nam'] }, /'search' of resource 'Person' names 'nam', which is not a field.*did you mean 'name'/],
  [{ search: ['boss__username'] }, /names 'boss__username', which is not a field of the model/],
  [{ search: [5] }, /names '5', which is not a field of the model/],
  [{ search: ['age'] }, /names 'age', which is not a text field: only text\(\) can be searched/],
  [{ search: ['id'] }, /names 'id', which is not a text field/],
  [{ search: ['pin'] }, /names 'pin', which is not a text field/],
  [{ search: ['notes'] }, /names 'notes', which is not a text field/],
  [{ search: ['boss'] }, /names 'boss', which is not a text field/],
  [{ search: ['name', 'nick', 'name'] }, /names 'name' twice/],
  [{ search: ['name', 'email'], exclude: ['email'] },
    /names 'email', which is excluded: leave it out, or add it to 'filterable' if clients may find out its values/]
]

test('D-175: a wrong option search fails the start, with the remedy', async (t) => {
  for (const [options, message] of wrongOptions) {
    await t.rejects(persons(t, options), { code: /^REST_MODELS_(INVALID_OPTIONS|UNKNOWN_OPTION_FIELD)$/, message })
  }
})

test('D-175: an excluded field that is filterable can be searched', async (t) => {
  const { find, get } = await persons(t, { search: ['email'], exclude: ['email'], filterable: ['email'] })
  t.same(await find('SECRET'), [2])
  t.notMatch((await get('/api/person/?search=secret')).body, /"email"/)
})

test('D-175: a search sees what the scope shows', async (t) => {
  const anybody = hostAuth(() => ({ id: 1 }), { protect: 'all' })
  const { get } = await buildApp(t, {
    models: [User, Person],
    rows: { person: people },
    register: (registry) => {
      registry.register(Person, { auth: anybody, search: ['name'], scope: () => ({ id__gt: 3 }) })
    }
  })
  const reply = await get('/api/person/?search=100&count=true&limit=1')
  t.same([valuesOf(reply, 'id'), reply.json().meta.count], [[4], 1])
})
