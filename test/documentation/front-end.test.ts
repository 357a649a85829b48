// @once: a page in a browser, on SQLite
// @alone: takes the memory of a browser
// @long: starts a browser

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { openPage } from '../example/chromium.js'
import { lacks } from '../support/engines/lacks.js'
import { startServer } from '../support/process.js'
import { readPage } from './page.js'

test('the page of docs/browser.md writes and lists messages, and shows what was wrong', async (t) => {
  if (lacks(t, 'chromium')) return
  const folder = mkdtempSync(join(resolve('dist'), 'page-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const program = readPage('docs/browser.md').blocks.find(({ language }) => language === 'js')
  writeFileSync(join(folder, 'site.mjs'), String(program?.content))
  const { address } = await startServer(t, 'site.mjs', { cwd: folder })
  const { page, dialogs, complaints, origins } = await openPage(t, address)
  const send = async (password: string, content: string): Promise<void> => {
    await page.fill('[name=username]', 'alice')
    await page.fill('[name=password]', password)
    await page.fill('[name=content]', content)
    await page.click('button')
  }
  const alert = page.locator('[role=alert]')
  await send('wrong', 'hello')
  await alert.getByText('Wrong user name or password').waitFor()
  await send('secret', '')
  await alert.getByText('content').waitFor()
  await send('secret', '<b>hello</b>')
  await page.getByText('<b>hello</b>', { exact: true }).waitFor()
  t.equal(await alert.textContent(), '')
  t.strictSame(dialogs, [], 'the browser does not ask for a password')
  t.strictSame(complaints, [])
  t.strictSame([...origins], [new URL(address).origin])
})
