// @once: runs the pages, on SQLite

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { startServer } from '../support/process.js'
import { readPage } from './page.js'

for (const file of ['README.md', 'docs/quick-start.md']) {
  test(`the program of ${file} ends on SIGTERM, and a second start keeps its database`, async (t) => {
    const program = readPage(file).blocks.find(({ language }) => language === 'js')
    // Inside the package, so that its own name resolves to it.
    const folder = mkdtempSync(join(resolve('dist'), 'page-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'site.mjs'), String(program?.content))
    const login = file === 'README.md' ? 'alice:secret' : 'alice:correct horse'
    const first = await startServer(t, 'site.mjs', { cwd: folder })
    const created = await fetch(`${first.address}/api/message/`, {
      method: 'POST',
      body: '{"content": "hello"}',
      headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}`, 'content-type': 'application/json' }
    })
    t.equal(created.status, 201)
    t.equal(await first.stop(), null, 'SIGTERM ends it')
    const second = await startServer(t, 'site.mjs', { cwd: folder })
    t.equal((await fetch(`${second.address}/api/message/1/`)).status, 200)
  })
}
