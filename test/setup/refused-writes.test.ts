// @once: opens both servers itself

import { randomBytes } from 'node:crypto'
import { test, type Test } from 'tap'
import { describeNote } from '../../lib/tooling/introspect/describe-notes.js'
import { serveDatabase } from '../../lib/tools.js'
import { engineNames, type EngineName } from '../support/engines/find-engine.js'
import { requireDatabase } from '../support/engines/lacks.js'
import { runSql } from '../support/engines/sql.js'

/** Makes tables, and a role that may read all of them. Returns the URL of the database for that role. */
async function restricted (
  t: Test, { engine, at }: { readonly engine: EngineName, readonly at: string }, grants: readonly string[],
  ...statements: readonly string[]
): Promise<string> {
  const role = `r${randomBytes(6).toString('hex')}`
  const run = async (statement: string) => await runSql(at, statement)
  for (const statement of statements) await run(statement)
  const given = new URL(at)
  if (engine === 'postgres') {
    await run(`create role ${role}`)
    await run(`grant select on all tables in schema public to ${role}`)
    given.searchParams.set('options', `-c role=${role}`)
  } else {
    await run(`create user ${role}@'%' identified by '${role}'`)
    await run(`grant select on * to ${role}`)
    given.username = role
    given.password = role
  }
  for (const grant of grants) await run(`grant ${grant} to ${role}`)
  t.teardown(async () => {
    if (engine === 'postgres') await run(`drop owned by ${role}`)
    await run(engine === 'postgres' ? `drop role ${role}` : `drop user ${role}`)
  })
  return given.href
}

async function serve (t: Test, url: string) {
  const { app, notes } = await serveDatabase(url, { write: true })
  t.teardown(async () => { await app.close() })
  const send = async (method: 'POST' | 'PUT' | 'DELETE', path: string, payload?: object): Promise<number> => {
    const { statusCode } = await app.inject({ method, url: `/api/${path}`, ...payload && { payload } })
    return statusCode
  }
  return { lines: notes.map(describeNote), send }
}

for (const engine of engineNames) {
  test(`D-282: ${engine}: serve --write closes the writes for which its user has no grant, and says why`, async (t) => {
    const at = await requireDatabase(t, engine)
    if (at === undefined) return
    const url = await restricted(
      t, { engine, at }, ['insert, update, delete on open_one', 'insert on added', 'update (title), delete on changed'],
      ...['open_one', 'added', 'changed', 'fixed'].map((name) =>
        `create table ${name} (id integer primary key, rest varchar(9), title varchar(9) not null)`),
      ...['open_one', 'added', 'changed', 'fixed'].map((name) => `insert into ${name} values (1, null, 'a')`),
      `create table bare (id ${engine === 'postgres' ? 'bigserial' : 'bigint auto_increment'} primary key)`
    )
    const { lines, send } = await serve(t, url)
    t.strictSame(lines.map((line) => line.slice(0, line.indexOf(':'))), [
      "Table 'added' takes no update", "Table 'added' takes no delete", "Table 'bare' takes no create",
      "Table 'bare' takes no delete", "Table 'changed' takes no create",
      ...['create', 'update', 'delete'].map((operation) => `Table 'fixed' takes no ${operation}`)
    ])
    for (const line of lines) t.match(line, /permission denied|command denied/)
    for (const [table, statuses] of Object.entries({
      open_one: [201, 200, 204], added: [201, 401, 401], changed: [401, 200, 204], fixed: [401, 401, 401]
    })) {
      const path = `${table}/`
      t.strictSame([
        await send('POST', path, { id: 2, title: 'b' }), await send('PUT', `${path}1/`, { title: 'c' }),
        await send('DELETE', `${path}1/`)
      ], statuses, table)
    }
  })
}

test('D-282: PostgreSQL: serve --write closes the writes that a conditional rule replaces', async (t) => {
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return
  const url = await restricted(
    t, { engine: 'postgres', at }, ['insert, update, delete on note'],
    'create table note (id integer primary key, title varchar(9) not null)',
    "insert into note values (1, 'a')",
    "create rule r as on update to note where new.title = 'z' do instead nothing"
  )
  const { lines, send } = await serve(t, url)
  t.strictSame(lines, ["Table 'note' takes no update: cannot perform UPDATE RETURNING on relation \"note\""])
  t.strictSame([
    await send('POST', 'note/', { id: 2, title: 'b' }), await send('PUT', 'note/1/', { title: 'c' }),
    await send('DELETE', 'note/1/')
  ], [201, 401, 204])
})

test('D-282: PostgreSQL: serve --write closes creates whose key comes from a sequence without a grant', async (t) => {
  const at = await requireDatabase(t, 'postgres')
  if (at === undefined) return
  const url = await restricted(
    t, { engine: 'postgres', at },
    ['insert, update, delete on closed, open_one, own', 'usage on sequence open_one_id_seq'],
    ...['closed', 'open_one'].map((name) => `create table ${name} (id serial primary key, title varchar(9) not null)`),
    'create table own (id integer generated by default as identity primary key, title varchar(9) not null)'
  )
  const { lines, send } = await serve(t, url)
  t.strictSame(lines, ["Table 'closed' takes no create: permission denied for sequence closed_id_seq"])
  const body = { title: 'a' }
  t.strictSame([
    await send('POST', 'closed/', body), await send('POST', 'open_one/', body), await send('POST', 'own/', body),
    await send('DELETE', 'closed/1/')
  ], [401, 201, 201, 404])
})
