import { test } from 'tap'
import { defineModel, foreignKey, openAuth, hostAuth, text, type ResourceRegistry } from '../../lib/index.js'
import { engine } from '../support/database.js'
import { buildApp, type TestApp } from '../support/site.js'
import { readPage } from './page.js'

const { text: page } = readPage('docs/hooks.md')
const [costs = ''] = /## What hooks cost[^]*/.exec(page) ?? []

/** The numbers in a row of the table: without hooks, with `afterWrite` alone, with `beforeWrite`. */
function numbersOf (operation: string): number[] {
  const row = costs.split('\n').find((line) => line.startsWith(`| ${operation} |`)) ?? ''
  return row.split('|').slice(2, 5).map((cell) => parseInt(cell, 10))
}

const Shelf = defineModel('Shelf', { name: text() })
const Book = defineModel('Book', { place: foreignKey(() => Shelf), title: text() })
/** The same with a scope. */
const Folder = defineModel('Folder', { name: text() })
const Page = defineModel('Page', { place: foreignKey(() => Folder), title: text() })
const members = hostAuth(() => ({ id: 1 }))

const afterWrite = (): void => {}
const beforeWrite = (): void => {}

function register (registry: ResourceRegistry): void {
  registry.register(Shelf).register(Folder, { auth: members, scope: () => ({ name__in: ['a', 'b'] }) })
  const hooked = { plain: {}, after: { afterWrite }, before: { beforeWrite }, both: { beforeWrite, afterWrite } }
  for (const [path, hooks] of Object.entries(hooked)) {
    registry.register(Book, { path, auth: openAuth(), ...hooks })
    registry.register(Page, { path: `${path}-scoped`, auth: members, ...hooks })
  }
}

/** How many statements each of these requests sends: a create, an update of a text, one of a reference, a delete. */
async function costsOf ({ post, put, delete: remove, statements, forget }: TestApp, path: string): Promise<number[]> {
  const counted: number[] = []
  const count = async <Answer> (request: Promise<Answer>): Promise<Answer> => {
    const answer = await request
    counted.push(statements.length)
    forget()
    return answer
  }
  forget()
  const { id } = (await count(post(`/api/${path}/`, { place: 1, title: 'x' }))).json()
  for (const change of [{ title: 'y' }, { place: 2 }]) await count(put(`/api/${path}/${id}/`, change))
  await count(remove(`/api/${path}/${id}/`))
  return counted
}

test('a write sends as many statements as the table about the costs of hooks says', async (t) => {
  const places = [{ id: 1, name: 'a' }, { id: 2, name: 'b' }]
  const rows = { shelf: places, folder: places }
  const app = await buildApp(t, { models: [Shelf, Book, Folder, Page], rows, register })
  const isMariadb = engine === 'mariadb'
  const creates = numbersOf('create')
  const updates = numbersOf(isMariadb ? 'update on MariaDB' : 'update on SQLite and PostgreSQL')
  const deletes = numbersOf('delete')
  // A reference that is checked before the hook costs one select, and two if a scope decides.
  const checks = { plain: 0, after: 0, before: 1, both: 1 }
  for (const [index, path] of (['plain', 'after', 'before'] as const).entries()) {
    const [create = 0, update = 0, remove = 0] = [creates[index], updates[index], deletes[index]]
    const sent = (check: number): number[] => [create + check, update, update + check, remove]
    t.strictSame(await costsOf(app, path), sent(checks[path]), path)
    t.strictSame(await costsOf(app, `${path}-scoped`), sent(2 * checks[path] + (isMariadb ? 1 : 0)), `${path}-scoped`)
  }
  t.strictSame((await costsOf(app, 'both'))[0], (creates[1] ?? 0) + 1, 'both hooks, and the check of the reference')
})
