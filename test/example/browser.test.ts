// @once: starts the example, on SQLite
// @alone: takes the memory of a browser
// @long: starts a browser

import type { Locator, Page } from 'playwright-core'
import { resolve } from 'node:path'
import { test, type Test } from 'tap'
import { openPage, type WatchedPage } from './chromium.js'
import { lacks } from '../support/engines/lacks.js'
import { startServer } from '../support/process.js'

/**
 * The file that a picture of the page is written to: `npm run build && SCREENSHOT=docs/documentation.png npx tap run
 * --disable-coverage test/example/browser.test.ts`
 */
const screenshot = process.env['SCREENSHOT']

interface Call {
  readonly method: 'get' | 'post' | 'put' | 'delete'
  readonly path: string
  /** Values of parameters, by name. */
  readonly parameters?: Readonly<Record<string, string>>
  /** What is written in place of the body that the page proposes. */
  readonly body?: object
}

/** As much of the elements of a page as this file uses. The project has no types of browsers. */
interface PageElement {
  readonly textContent: string | null
  scrollIntoView (): void
  querySelector (selector: string): PageElement | null
  getAttribute (name: string): string | null
}

/** What the page shows of an answer. */
interface Shown {
  readonly status: number
  readonly body: string
}

/** Fills in an operation of the page as a person does, executes it, and reads the answer from the page. */
async function execute (page: Page, { method, path, parameters = {}, body }: Call): Promise<Shown> {
  const operation = await openOperation(page, method, path)
  for (const [name, value] of Object.entries(parameters)) {
    await operation.locator(`tr[data-param-name="${name}"] input`).first().fill(value)
  }
  if (body !== undefined) await operation.locator('.body-param__text').fill(JSON.stringify(body))
  const answered = page.waitForResponse((response) => response.request().method() === method.toUpperCase() &&
    response.url().includes('/api/'))
  await operation.getByRole('button', { name: 'Execute' }).click()
  const status = (await answered).status()
  const answer = operation.locator('.live-responses-table .response', {
    has: page.locator('.response-col_status', { hasText: String(status) })
  })
  await answer.waitFor()
  const text = answer.locator('.response-col_description .highlight-code pre').first()
  const shown = { status, body: await text.count() > 0 ? await text.innerText() : '' }
  if (body !== undefined && status === 201 && screenshot !== undefined) await picture(operation, screenshot)
  // What is open is drawn again at every change, and lists have many parameters.
  await operation.locator('.opblock-summary-control').click()
  return shown
}

/** An operation from its top, as far as the window shows it. */
async function picture (operation: Locator, path: string): Promise<void> {
  await operation.evaluate((element: PageElement) => element.scrollIntoView())
  await operation.page().screenshot({ path })
}

async function openOperation (page: Page, method: string, path: string): Promise<Locator> {
  const operation = page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) })
  await operation.waitFor()
  if (await operation.locator('.opblock-body').count() === 0) {
    await operation.locator('.opblock-summary-control').click()
  }
  return operation
}

/** Uses the page's own button to log in. */
async function authorize (page: Page, username: string, password = username): Promise<void> {
  await openLogin(page)
  const dialog = page.locator('.dialog-ux')
  await dialog.locator('input[name="username"]').fill(username)
  await dialog.locator('input[name="password"]').fill(password)
  await dialog.getByRole('button', { name: 'Apply credentials' }).click()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
}

async function logOut (page: Page): Promise<void> {
  await openLogin(page)
  await page.locator('.dialog-ux').getByRole('button', { name: 'Remove authorization' }).click()
  await page.locator('.dialog-ux').getByRole('button', { name: 'Close' }).last().click()
}

async function openLogin (page: Page): Promise<void> {
  await page.locator('.scheme-container .authorize').click()
  await page.locator('.dialog-ux .auth-container').waitFor()
}

const create = { method: 'post', path: '/api/message/', body: { content: 'written in a browser' } } as const

test('in a browser, the page of the example app tries all five operations', async (t) => {
  if (lacks(t, 'chromium')) return
  t.setTimeout(300_000)
  const { address, output } = await startServer(t, resolve('dist/examples/site/main.js'), {
    cwd: t.testdir(), env: { DATABASE_URL: 'sqlite::memory:' }
  })
  const watched = await openPage(t, `${address}/documentation`)
  await t.test('it shows the operations that somebody may do', async (t) => { await showsOperations(t, watched) })
  await t.test('a list with a filter', async (t) => { await lists(t, watched) })
  await t.test('a 401 is shown in the page, and no dialog of the browser swallows it', async (t) => {
    await showsRefusals(t, watched)
  })
  await t.test('alice creates, reads, changes and deletes a message, and none of bob\'s', async (t) => {
    await tries(t, watched)
  })
  await t.test('whoever has logged out is nobody', async (t) => {
    await logOut(watched.page)
    t.match(await execute(watched.page, create), { status: 401 })
  })
  t.strictSame(watched.dialogs, [])
  t.strictSame(watched.complaints, [])
  t.match(output(), `${address}/documentation`, 'npm start says where it is')
  t.strictSame([...watched.origins], [address], 'nothing is loaded from elsewhere')
  await t.test('without the page\'s own care, the browser would ask', async (t) => { await wouldAsk(t, watched) })
})

async function showsOperations (t: Test, { page }: WatchedPage): Promise<void> {
  await page.locator('.opblock').first().waitFor()
  const shown = await page.locator('.opblock-summary').evaluateAll((rows: readonly PageElement[]) => rows.map((row) =>
    `${row.querySelector('.opblock-summary-method')?.textContent} ` +
      `${row.querySelector('[data-path]')?.getAttribute('data-path')}`))
  const expected = ['user', 'relationship', 'message'].flatMap((name) =>
    [
      `GET /api/${name}/`, `POST /api/${name}/`,
      ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /api/${name}/{id}/`)
    ])
  // Nobody may write notes.
  expected.push('GET /api/note/', 'GET /api/note/{id}/')
  t.strictSame(shown.sort(), expected.sort())
}

async function lists (t: Test, { page }: WatchedPage): Promise<void> {
  const { status, body } = await execute(page, {
    method: 'get', path: '/api/message/', parameters: { user__username: 'bob', limit: '3' }
  })
  t.equal(status, 200)
  t.strictSame(JSON.parse(body).objects.map((record: { user_id: number }) => record.user_id), [3, 3, 3])
}

async function showsRefusals (t: Test, { page, dialogs }: WatchedPage): Promise<void> {
  t.strictSame(await execute(page, create), { status: 401, body: 'Authentication failed' }, 'without a log-in')
  await authorize(page, 'alice', 'wrong')
  t.strictSame(await execute(page, create), { status: 401, body: 'Authentication failed' }, 'with a wrong password')
  t.strictSame(dialogs, [])
  await logOut(page)
}

async function tries (t: Test, { page }: WatchedPage): Promise<void> {
  await authorize(page, 'alice')
  const created = await execute(page, create)
  t.equal(created.status, 201)
  const record = JSON.parse(created.body)
  t.match(record, { user_id: 2, content: 'written in a browser' })
  t.equal(
    (await execute(page, { method: 'post', path: '/api/message/' })).status, 201,
    'what the page proposes is good as well'
  )
  const own = { path: '/api/message/{id}/', parameters: { id: String(record.id) } }
  const bobs = { path: '/api/message/{id}/', parameters: { id: '2' } }
  t.strictSame(JSON.parse((await execute(page, { method: 'get', ...own })).body), record)
  t.match(await execute(page, { method: 'put', ...own, body: { content: 'changed' } }), {
    status: 200, body: /"content": "changed"/
  })
  t.match(await execute(page, { method: 'put', ...bobs, body: { content: 'changed' } }), {
    status: 403, body: /REST_MODELS_FORBIDDEN/
  })
  t.match(await execute(page, { method: 'delete', ...bobs }), { status: 403, body: /REST_MODELS_FORBIDDEN/ })
  t.strictSame(await execute(page, { method: 'delete', ...own }), { status: 204, body: '' })
  t.match(await execute(page, { method: 'get', ...own }), { status: 404 })
}

async function wouldAsk (t: Test, { page, dialogs }: WatchedPage): Promise<void> {
  const status = await page.evaluate(async () => (await fetch('/api/message/', { method: 'POST' })).status)
  t.equal(status, 401)
  t.strictSame(dialogs, [`POST ${new URL('/api/message/', page.url()).href}: Login Required`])
}
