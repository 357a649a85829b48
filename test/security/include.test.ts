import { test, type Test } from 'tap'
import { defineModel, foreignKey, hostAuth, openAuth, text, type Identity, type Model } from '../../lib/index.js'
import { engine } from '../support/database.js'
import { buildApp, type TestApp } from '../support/site.js'

const Person: Model = defineModel('Person', {
  name: text(),
  salary: text({ nullable: true }),
  boss: foreignKey((): Model => Person, { nullable: true }),
  confidant: foreignKey((): Model => Person, { nullable: true }),
  note: foreignKey((): Model => Note, { nullable: true })
})
/** What only its own users may list. */
const Note = defineModel('Note', { text: text({ maxLength: 3_000_000 }) })
const Letter = defineModel('Letter', { to: foreignKey(() => Person), from: foreignKey(() => Person), subject: text() })

interface Reader extends Identity { readonly team: string }
const find = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): Reader | null =>
  headers['x-team'] === undefined ? null : { id: 1, team: String(headers['x-team']) }
const members = hostAuth<Reader>(find)
const others = hostAuth(() => null, { protect: 'all' })
const as = (team: string) => ({ headers: { 'x-team': team } })

const rows = {
  note: [{ id: 1, text: 'secret note' }],
  person: [1, 2, 3, 4].map((id) => ({
    id, name: `p${id % 2}`, salary: `secret ${id}`, boss_id: id === 1 ? null : id - 1, confidant_id: 1, note_id: 1
  })),
  letter: [1, 2, 3].map((id) => ({ id, to_id: id, from_id: id + 1, subject: `s${id}` }))
}

async function build (t: Test, more: Parameters<typeof buildApp>[1] = {}): Promise<TestApp> {
  return await buildApp(t, {
    models: [Note, Person, Letter],
    rows,
    register: (registry) => {
      registry.register(Note, { auth: others })
      registry.register(Person, {
        auth: members, exclude: ['salary', 'confidant'], scope: (user) => user === null ? {} : { name: user.team }
      })
      registry.register(Letter, { auth: members })
      registry.register(Letter, { auth: members, path: 'mail', scope: () => ({}) })
    },
    ...more
  })
}

test('T-128: no related record shows what its own resource does not show', async (t) => {
  const { get } = await build(t)
  for (const path of ['to', 'to,from', 'to__boss', 'to__boss__boss,from__boss', 'to__boss,to']) {
    for (const url of ['/api/letter/?include=', '/api/letter/1/?include=', '/api/mail/?after=&ordering=-id&include=']) {
      const { statusCode, body } = await get(`${url}${path}`, as('p1'))
      t.equal(statusCode, 200, path)
      t.notMatch(body, /secret|salary|confidant/)
      if (url.includes('mail')) t.notMatch(body, '"name":"p0"', 'records outside the scope are null')
    }
  }
  const { objects } = (await get('/api/mail/?include=to,from', as('p1'))).json()
  t.match(objects, [{ to: { id: 1 }, from: null }, { to: null, from: { id: 3 } }, { to: { id: 3 }, from: null }])
})

test('T-158: what a schema of the host hides in answers is hidden with include, too', async (t) => {
  const { get } = await build(t, {
    prepare: (app) => {
      app.addHook('onRoute', ({ schema, method, url }) => {
        const success = Object(schema?.response)['200']
        if (method !== 'GET' || !url.includes('/letter') || success === undefined) return
        const record = success.properties.objects?.items ?? success
        const { subject: _hidden, ...properties } = record.properties
        const shown = { ...record, properties, required: [] }
        Object.assign(schema?.response as object, {
          200: record === success ? shown : { type: 'object', properties: { objects: { type: 'array', items: shown } } }
        })
      })
    },
    undocumented: 'the host answers as its own schema says'
  })
  for (const path of ['/api/letter/', '/api/letter/1/']) {
    for (const query of ['', '?include=to', '?include=to,from']) {
      const { statusCode, body } = await get(path + query, as('p1'))
      t.equal(statusCode, 200)
      t.match(body, '"to_id":1')
      t.notMatch(body, 'subject', path + query)
    }
  }
})

test('T-129: the refusal does not tell whether a name exists', async (t) => {
  const { get, statements, forget } = await build(t)
  const refusal = async (name: string): Promise<string> => {
    forget()
    const { statusCode, body } = await get(`/api/letter/?include=to,to__${name}`, as('p1'))
    t.equal(statusCode, 400, name)
    t.strictSame(statements, [])
    return body.replace(`'to__${name}'`, 'NAME')
  }
  const unknown = await refusal('nothing')
  for (const name of ['confidant', 'confidant_id', 'note', 'salary', 'name', 'id', 'confidant__boss', 'note__text']) {
    t.equal(await refusal(name), unknown, name)
  }
  const long = await get(`/api/letter/?include=${'x'.repeat(3000)}`)
  t.ok(long.body.length < 600, 'a long name is cut')
})

test('T-130: wide, deep and repeated paths are bounded', async (t) => {
  const { get, statements, forget } = await build(t)
  const codeOf = async (path: string): Promise<unknown> => (await get(`/api/letter/?include=${path}`)).json().code
  t.equal(await codeOf('to__boss__boss__boss'), 'REST_MODELS_TOO_MUCH')
  t.equal(await codeOf(Array(500).fill('to').join('__')), 'REST_MODELS_TOO_MUCH')
  t.equal(await codeOf('to__boss__boss,from__boss__boss'), 'REST_MODELS_TOO_MUCH')
  t.equal(await codeOf(`${'to,'.repeat(4000)}to`), 'REST_MODELS_QUERY_TOO_LONG')
  forget()
  t.equal((await get(`/api/letter/?include=${'to,'.repeat(1000)}to`)).statusCode, 200)
  t.equal(statements.length, 1)
  t.equal(statements[0]?.sql.match(/left join/g)?.length, 1)
})

test('T-131: different sets of related records in any order need a statement for each set at most', async (t) => {
  const { get, statements } = await build(t)
  const texts = new Set<string>()
  for (const path of ['to,from', 'from,to', 'to,from,to', 'from,to,from']) {
    statements.length = 0
    await get(`/api/letter/?include=${path}`)
    texts.add(statements[0]?.sql ?? '')
  }
  t.ok(texts.size <= 2, `${texts.size} statements`)
})

test('T-132: related texts of megabytes do not let a page grow without end', async (t) => {
  const { get } = await build(t, {
    rows: {
      note: [{ id: 1, text: 'x'.repeat(1_500_000) }],
      person: [{ id: 1, name: 'p1', note_id: 1 }],
      letter: Array.from({ length: 30 }, (_, index) => ({ id: index + 1, to_id: 1, from_id: 1, subject: 's' }))
    },
    register: (registry) => {
      for (const model of [Note, Person, Letter]) registry.register(model, { auth: openAuth() })
    }
  })
  let url = '/api/letter/?limit=30&include=to__note,from__note&after='
  const found: number[] = []
  while (url !== '' && found.length < 3) {
    const { body } = await get(url)
    t.ok(body.length < 5 * 1024 * 1024, `${engine}: ${body.length} characters`)
    const { meta, objects } = JSON.parse(body)
    found.push(...objects.map(({ id }: { readonly id: number }) => id))
    url = meta.next
  }
  t.strictSame(found.slice(0, 3), [1, 2, 3])
})
