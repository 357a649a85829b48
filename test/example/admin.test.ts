// @once: starts the example, on SQLite
// @long: installs what the application needs, which takes up to a minute
// @alone: starts a browser

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { test, type Test } from 'tap'
import { adminFolder as folder, installAdmin, run } from './admin.js'
import { openPage } from './chromium.js'
import { openProgram } from '../documentation/bundled.js'
import { lacks } from '../support/engines/lacks.js'
import { startServer } from '../support/process.js'
import { basic } from '../support/site.js'

/**
 * The file that a picture of the application is written to: `npm run build && SCREENSHOT=docs/admin.png npm run
 * test:one test/example/admin.test.ts`
 */
const screenshot = process.env['SCREENSHOT']

/** As much of Vite as this file uses. Only the application has it installed. */
interface Vite {
  preview (options: object): Promise<{ readonly resolvedUrls: { readonly local: string[] }, close (): Promise<void> }>
}

/** Serves the pages, and the API of an address under the same origin. */
async function serve (t: Test, api: string): Promise<string> {
  process.env['API'] = api
  const { preview } = await import(pathToFileURL(`${folder}/node_modules/vite/dist/node/index.js`).href) as Vite
  const server = await preview({ root: folder, preview: { port: 0 }, logLevel: 'warn' })
  t.teardown(async () => { await server.close() })
  return server.resolvedUrls.local[0] ?? ''
}

async function logIn (page: Page, username: string, password = username): Promise<void> {
  await page.fill('[name=username]', username)
  await page.fill('[name=password]', password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function logOut (page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Profile' }).click()
  await page.getByRole('menuitem', { name: 'Logout' }).click()
  await page.locator('[name=username]').waitFor()
}

const open = async (page: Page, name: string): Promise<void> =>
  await page.getByRole('menuitem', { name, exact: true }).click()
const form = (page: Page): Locator => page.locator('.create-page, .edit-page')
const rows = (page: Page): Locator => page.locator('tbody tr')
/** Waits until the list says which records of how many it shows, such as `1-10 of 65`. */
const range = async (page: Page, text: string): Promise<void> =>
  await page.locator('.MuiTablePagination-displayedRows', { hasText: new RegExp(`^${text}$`) }).waitFor()
const save = async (page: Page): Promise<void> => await page.getByRole('button', { name: 'Save' }).click()
const told = async (page: Page, text: string | RegExp): Promise<void> =>
  await page.locator('.MuiSnackbar-root').getByText(text).waitFor()
/** The message below an input. */
const faultOf = (page: Page, label: string): Locator =>
  form(page).locator('.MuiFormControl-root', { has: page.getByLabel(label) }).locator('p.Mui-error')

async function choose (page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).fill(text)
  await page.getByRole('option', { name: text }).first().click()
}

test('in a browser, a react-admin application works with the example workspace', async (t) => {
  if (lacks(t, 'chromium')) return
  t.setTimeout(300_000)
  await installAdmin()
  await run('npm', ['run', 'build'], { cwd: folder })
  const { address } = await startServer(t, resolve('dist/examples/workspace/main.js'), {
    cwd: t.testdir(), env: { DATABASE_URL: 'sqlite::memory:' }
  })
  const { page, dialogs, complaints, origins } = await openPage(t, await serve(t, address))
  await page.setViewportSize({ width: 1200, height: 720 })
  /** What another client does meanwhile. */
  const change = async (path: string, body: object): Promise<void> => {
    const headers = { authorization: basic('art'), 'content-type': 'application/json' }
    t.equal((await fetch(address + path, { method: 'PUT', headers, body: JSON.stringify(body) })).status, 200)
  }
  await t.test('a wrong password is told', async () => {
    await logIn(page, 'ann', 'wrong')
    await told(page, 'Wrong user name or password')
  })
  await logIn(page, 'ann')
  await t.test('a manager searches, filters, sorts and pages', async (t) => { await looksAround(t, page) })
  await t.test('she creates, changes and deletes a task', async (t) => { await writes(t, page) })
  await t.test('errors stand at their fields', async () => { await errs(page) })
  await t.test('a change of somebody else is told, and not overwritten', async (t) => {
    await conflicts(t, page, change)
  })
  await logOut(page)
  await logIn(page, 'gil')
  await t.test('a member of the other company sees its own records, and does what members may', async (t) => {
    await seesOwn(t, page)
  })
  t.strictSame(dialogs, [], 'the browser does not ask for a password')
  t.strictSame(complaints, [])
  t.strictSame([...origins], [new URL(page.url()).origin], 'nothing is loaded from elsewhere')
})

async function looksAround (t: Test, page: Page): Promise<void> {
  await range(page, '1-10 of 65')
  if (screenshot !== undefined) await page.screenshot({ path: screenshot })
  await page.getByRole('button', { name: 'Go to page 7' }).click()
  await range(page, '61-65 of 65')
  await page.getByPlaceholder('Search').fill('draft atlas')
  await range(page, '1-5 of 5')
  await page.getByRole('columnheader', { name: 'Title' }).getByRole('button').click()
  await rows(page).first().getByText('Draft of Atlas, no. 1', { exact: true }).waitFor()
  t.match(await rows(page).first().innerText(), /Atlas\s+nobody/, 'related records are shown by their names')
  await page.getByPlaceholder('Search').fill('')
  await choose(page, 'Project', 'Archive')
  await range(page, '1-5 of 5')
  await page.getByRole('button', { name: 'Clear value' }).first().click()
  await range(page, '1-10 of 65')
}

async function writes (t: Test, page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Create' }).click()
  await form(page).getByLabel('Title').fill('Write the manual')
  await choose(page, 'Project', 'Apollo')
  await choose(page, 'Assignee', 'Art')
  await save(page)
  await range(page, '1-10 of 66')
  await page.getByPlaceholder('Search').fill('manual')
  await rows(page).getByText('Write the manual').click()
  await form(page).getByLabel('Done').click()
  await form(page).getByLabel('Due').fill('2026-12-24')
  await save(page)
  await told(page, /updated/)
  await range(page, '1-1 of 1')
  t.match(await rows(page).first().innerText(), /Apollo\s+Art Atkins\s+12\/24\/2026/)
  await rows(page).getByText('Write the manual').click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await told(page, /deleted/)
  await page.getByPlaceholder('Search').fill('')
  await range(page, '1-10 of 65')
}

async function errs (page: Page): Promise<void> {
  await open(page, 'Projects')
  await page.getByRole('link', { name: 'Create' }).click()
  await form(page).getByLabel('Name').fill('Apollo')
  await form(page).getByLabel('Budget').fill('many')
  await save(page)
  await faultOf(page, 'Budget').waitFor()
  await form(page).getByLabel('Budget').fill('12.50')
  await save(page)
  await faultOf(page, 'Name').waitFor()
}

async function conflicts (
  t: Test, page: Page, change: (path: string, body: object) => Promise<void>
): Promise<void> {
  await open(page, 'Tasks')
  await page.getByPlaceholder('Search').fill('review apollo')
  await rows(page).getByText('Review of Apollo, no. 2', { exact: true }).click()
  await form(page).getByLabel('Title').waitFor()
  await page.waitForLoadState('networkidle')
  await change('/api/task/00000000-0000-7000-8000-000000000002/', { due: '2027-01-01' })
  await form(page).getByLabel('Title').fill('Mine')
  await save(page)
  await told(page, /changed by somebody else/)
  t.equal(await form(page).getByLabel('Title').inputValue(), 'Mine', 'what was typed is still there')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.locator('input[value="2027-01-01"]').waitFor()
  await form(page).getByLabel('Title').fill('Mine')
  await save(page)
  await told(page, /updated/)
  await page.getByPlaceholder('Search').fill('')
  await range(page, '1-10 of 65')
}

async function seesOwn (t: Test, page: Page): Promise<void> {
  await range(page, '1-10 of 90')
  await open(page, 'Projects')
  await range(page, '1-3 of 3')
  t.notMatch(await page.locator('tbody').innerText(), /Atlas|Acme/)
  t.equal(await page.getByRole('link', { name: 'Create' }).count(), 0, 'members create no projects')
  t.equal(await page.getByRole('menuitem', { name: 'Audit' }).count(), 0)
  await open(page, 'Comments')
  await page.getByRole('link', { name: 'Create' }).click()
  await choose(page, 'Task', 'Draft of Gamma, no. 1')
  await form(page).getByLabel('Text').fill('I take it.')
  await save(page)
  await range(page, '1-10 of 61')
  await rows(page).first().getByText('I take it.').waitFor()
  t.match(await rows(page).first().innerText(), /Gil Gordon/, 'the server sets the author')
}

test('one command starts the workspace and the application', async (t) => {
  if (lacks(t, 'chromium')) return
  const { output } = await startServer(t, `${folder}/start.js`, {
    cwd: t.testdir(), env: { DATABASE_URL: 'sqlite::memory:' }
  })
  while (!output().includes('Local:')) await new Promise((resolve) => setTimeout(resolve, 50))
  const [application = ''] = /(?<=Local: +)http:\S+/.exec(output()) ?? []
  t.match(await (await fetch(application)).text(), '<title>Workspace</title>')
  const answer = await fetch(new URL('/api/company/', application), { headers: { authorization: basic('ann') } })
  t.match(await answer.json(), { objects: [{ name: 'Acme' }] })
})

test('the program of docs/admin.md with react-admin', async (t) => {
  if (lacks(t, 'chromium')) return
  const { page, complaints, origins, address } = await openProgram(t, 'react-admin', folder)
  await page.getByText('1-10 of 30').waitFor()
  await page.getByPlaceholder('Search').fill('count')
  await page.getByText('1-10 of 10').waitFor()
  await page.getByRole('row', { name: /Count 3/ }).first().getByText('Ann').waitFor()
  await page.getByText('Count 3', { exact: true }).click()
  const title = page.locator('.edit-page').getByLabel('Title')
  await title.fill('x'.repeat(41))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.Mui-error', { hasText: '40' }).first().waitFor()
  await title.fill('Counted')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('1-9 of 9').or(page.getByText('1-10 of 10')).first().waitFor()
  t.pass('it lists, searches, shows an error at its field, and saves')
  t.strictSame(complaints, [])
  t.strictSame([...origins], [address], 'nothing is loaded from elsewhere')
})
