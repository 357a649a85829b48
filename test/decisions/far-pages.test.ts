import { test, type Test } from 'tap'
import { sqliteDialect } from '../../lib/engines/sqlite/dialect.js'
import { defineModel, foreignKey, integer, openAuth, text } from '../../lib/index.js'
import { engine } from '../support/database.js'
import { buildApp, type BuildOptions } from '../support/site.js'

const City = defineModel('City', { name: text(), secret: text() })
const Person = defineModel('Person', {
  city: foreignKey(() => City, { nullable: true }), name: text(), rank: integer(), secret: text()
})

const count = 1100
const cities = [1, 2, 3].map((id) => ({ id, name: `City ${id}`, secret: 'hidden' }))
const people = Array.from({ length: count }, (_, index) => ({
  id: index + 1,
  city_id: index % 4 === 3 ? null : index % 4 + 1,
  name: `Person ${String(index * 7 % count).padStart(4, '0')}`,
  rank: index % 5,
  secret: `secret ${String(count - index).padStart(4, '0')}`
}))
type Row = typeof people[number]

const setting: BuildOptions = {
  models: [City, Person],
  rows: { city: cities, person: people },
  register: (registry) => {
    registry.register(City, { auth: openAuth(), exclude: ['secret'] })
    registry.register(Person, { auth: openAuth(), exclude: ['secret'], filterable: ['secret'] })
  }
}

const shown = ({ secret, ...record }: Row) => record
const included = (row: Row) => {
  const { secret, ...city } = cities.find(({ id }) => id === row.city_id) ?? { secret: '' }
  return { ...shown(row), city: row.city_id === null ? null : city }
}
const by = (key: 'name' | 'secret') => (one: Row, other: Row): number => one[key] < other[key] ? -1 : 1

async function compare (t: Test, hasSubquery: boolean): Promise<void> {
  const { get, statements, forget } = await buildApp(t, setting)
  const cases: ReadonlyArray<readonly [query: string, rows: readonly Row[], toRecord: (row: Row) => object]> = [
    ['', people, shown],
    ['include=city', people, included],
    ['ordering=-name', people.toSorted(by('name')).reverse(), shown],
    ['ordering=secret&include=city', people.toSorted(by('secret')), included],
    ['ordering=rank,-id', people.toSorted((one, other) => one.rank - other.rank || other.id - one.id), shown],
    ['rank__lt=5&name__ilike=person%25', people, shown],
    ['city__name__in=City 1,City 2,City 3', people.filter(({ city_id: city }) => city !== null), shown]
  ]
  for (const [query, rows, toRecord] of cases) {
    for (const page of [40, 41, 42, 44, 45]) {
      forget()
      const reply = await get(`/api/person/?${query}&limit=25&page=${page}`)
      const wanted = rows.slice((page - 1) * 25, page * 25).map(toRecord)
      t.strictSame([reply.statusCode, reply.json().objects], [200, wanted], `${query}, page ${page}`)
      t.equal(reply.json().meta.next !== '', rows.length > page * 25, 'the link to the next page')
      t.equal(statements.length, 1)
      t.equal(statements[0]?.sql.includes('secret'), query.includes('secret'), 'no other hidden column is read')
      t.equal(/from \(select/.test(String(statements[0]?.sql)), hasSubquery && page > 40, 'the subquery')
    }
  }
}

test('D-280: a page that skips 1,000 records has the records that follow the others', async (t) => {
  await compare(t, engine === 'postgres')
})

test('D-280: on SQLite the subquery would choose the same records', { skip: engine !== 'sqlite' }, async (t) => {
  Object.assign(sqliteDialect, { selectsSkipped: true })
  t.teardown(() => { Object.assign(sqliteDialect, { selectsSkipped: undefined }) })
  await compare(t, true)
})
