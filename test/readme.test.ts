import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { basic } from './helper.js'
import { startServer } from './process.js'

const readme = readFileSync('README.md', 'utf8')

test('the first code block of the README runs when pasted, and the requests below it give what it shows', async (t) => {
  const [, code] = /```js\n(.*?)```/s.exec(readme) ?? []
  t.ok(code, 'there is a code block')
  // Inside the package, so that its own name resolves to it.
  const folder = mkdtempSync(join(resolve('dist'), 'readme-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'site.mjs'), String(code))
  const { address, stop } = await startServer(t, 'site.mjs', { cwd: folder })

  const created = await fetch(`${address}/api/message/`, {
    method: 'POST', body: '{"content": "hello"}', headers: { authorization: basic('alice', 'secret'), 'content-type': 'application/x-www-form-urlencoded' }
  })
  t.equal(created.status, 201)
  t.equal(created.headers.get('location'), '/api/message/1/')
  t.match(await created.json(), { id: 1, user_id: 1, content: 'hello', pub_date: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/ })

  const listed = await fetch(`${address}/api/message/?user__username=alice&ordering=-pub_date&limit=10`)
  t.match(await listed.json(), { meta: { model: 'message', page: 1, next: '', previous: '' }, objects: [{ id: 1, content: 'hello' }] })
  t.equal(await stop(), null, 'SIGTERM ends it')

  const again = await startServer(t, 'site.mjs', { cwd: folder })
  t.equal((await fetch(`${again.address}/api/message/1/`)).status, 200, 'a second start keeps the database')
})

test('the README names the two commands that do everything', (t) => {
  t.match(readme, 'npm ci && npm start')
  t.match(readme, 'npm ci && npm test')
  t.end()
})
