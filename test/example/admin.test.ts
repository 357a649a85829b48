// @once: starts the example, on SQLite
// @long: installs what the application needs, which takes up to a minute
// @alone: starts a browser

import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
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
 * The folder that pictures of the application are written to: `npm run build && SCREENSHOT=pictures npm run test:one
 * test/example/admin.test.ts`. `docs/admin.png` is its `ann-list.png`.
 */
const pictures = process.env['SCREENSHOT']

async function shoot (page: Page, name: string): Promise<void> {
  if (pictures === undefined) return
  // Until transitions have ended.
  await wait(500)
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

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

/** Opens an entry of the menu, and waits until the list before it has gone. */
async function open (page: Page, name: string): Promise<void> {
  await page.getByRole('menuitem', { name, exact: true }).click()
  await page.locator('#react-admin-title', { hasText: new RegExp(`^${name}$`) }).waitFor()
}

const form = (page: Page): Locator => page.locator('.create-page, .edit-page')
const rows = (page: Page): Locator => page.locator('tbody tr')
/** Waits until the list says which records of how many it shows, such as `1-10 of 65`. */
const range = async (page: Page, text: string): Promise<void> => { await rangeOf(page, text).waitFor() }
const rangeOf = (page: Page, text: string): Locator =>
  page.locator('.MuiTablePagination-displayedRows', { hasText: new RegExp(`^${text}$`) })
const save = async (page: Page): Promise<void> => await page.getByRole('button', { name: 'Save' }).click()
const told = async (page: Page, text: string | RegExp): Promise<void> =>
  await page.locator('.MuiSnackbar-root').getByText(text).waitFor()
/** The message below an input. */
const faultOf = (page: Page, label: string): Locator =>
  form(page).locator('.MuiFormControl-root', { has: page.getByLabel(label) }).locator('p.Mui-error')

/** Types again if what is waited for does not come: react-admin forgets what is typed while it loads the first ones. */
async function typeUntil (input: Locator, text: string, awaited: Locator): Promise<void> {
  const isThere = async (): Promise<boolean> => await awaited.waitFor({ timeout: 3000 }).then(() => true, () => false)
  for (let count = 0; count < 9; count++) {
    await input.fill(text)
    if (await isThere()) return
    await input.fill('')
  }
  await input.fill(text)
  await awaited.waitFor()
}

async function choose (page: Page, label: string, text: string): Promise<void> {
  const option = page.getByRole('option', { name: text }).first()
  await typeUntil(page.getByRole('combobox', { name: label }), text, option)
  await option.click()
}

/** Searches until the list says which records of how many it shows. */
const search = async (page: Page, text: string, shown: string): Promise<void> =>
  await typeUntil(page.getByPlaceholder('Search'), text, rangeOf(page, shown))

/** Opens the form of a row, and waits until the record has been loaded anew: an answer that comes later resets it. */
async function openRow (page: Page, text: string): Promise<void> {
  const loaded = page.waitForResponse((answer) =>
    answer.request().method() === 'GET' && /\/api\/\w+\/[^/?]+\/(\?|$)/.test(answer.url()))
  await rows(page).getByText(text, { exact: true }).click()
  await loaded
  await form(page).getByRole('textbox').first().waitFor()
  await wait(1000)
}

/** An account of the workspace, what it sees there, and what it does. */
interface Account {
  readonly name: string
  /** Somebody of the same company, who changes a task meanwhile. */
  readonly colleague: string
  /** Tasks that it sees. */
  readonly tasks: number
  readonly lastPage: { readonly number: number, readonly range: string }
  /** Finds five tasks, of which nobody has the first one by title. */
  readonly search: { readonly text: string, readonly first: string, readonly project: string }
  readonly filter: { readonly project: string, readonly range: string }
  readonly task: { readonly project: string, readonly assignee: string, readonly row: RegExp }
  /** A form of a menu's entry, filled in several steps. After each the server refuses a field. */
  readonly faults: {
    readonly menu: string
    readonly steps: ReadonlyArray<{ fill (page: Page): Promise<void>, readonly fault: string }>
  }
  readonly contested: { readonly search: string, readonly title: string, readonly path: string }
}

const ann: Account = {
  name: 'ann',
  colleague: 'art',
  tasks: 65,
  lastPage: { number: 7, range: '61-65' },
  search: { text: 'draft atlas', first: 'Draft of Atlas, no. 1', project: 'Atlas' },
  filter: { project: 'Archive', range: '1-5 of 5' },
  task: { project: 'Apollo', assignee: 'Art', row: /Apollo\s+Art Atkins\s+12\/24\/2026/ },
  faults: {
    menu: 'Projects',
    steps: [{
      fill: async (page) => {
        await form(page).getByLabel('Name').fill('Apollo')
        await form(page).getByLabel('Budget').fill('many')
      },
      fault: 'Budget'
    }, {
      fill: async (page) => { await form(page).getByLabel('Budget').fill('12.50') },
      fault: 'Name'
    }]
  },
  contested: {
    search: 'review apollo', title: 'Review of Apollo, no. 2', path: '/api/task/00000000-0000-7000-8000-000000000002/'
  }
}

/** A member, who may write tasks and comments alone. */
const gil: Account = {
  name: 'gil',
  colleague: 'gus',
  tasks: 90,
  lastPage: { number: 9, range: '81-90' },
  search: { text: 'draft gamma', first: 'Draft of Gamma, no. 1', project: 'Gamma' },
  filter: { project: 'Glacier', range: '1-10 of 30' },
  task: { project: 'Gamma', assignee: 'Gil', row: /Gamma\s+Gil Gordon\s+12\/24\/2026/ },
  faults: {
    menu: 'Tasks',
    steps: [{
      fill: async (page) => {
        await form(page).getByLabel('Title').fill('x'.repeat(201))
        await choose(page, 'Project', 'Gamma')
      },
      fault: 'Title'
    }, {
      fill: async (page) => {
        await form(page).getByLabel('Title').fill('Done by nobody')
        await form(page).getByLabel('Done').click()
      },
      fault: 'Assignee'
    }]
  },
  contested: {
    search: 'review gamma', title: 'Review of Gamma, no. 2', path: '/api/task/00000000-0000-7000-8000-000000000097/'
  }
}

test('in a browser, a react-admin application works with the example workspace', async (t) => {
  if (lacks(t, 'chromium')) return
  t.setTimeout(600_000)
  await installAdmin()
  await run('npm', ['run', 'build'], { cwd: folder })
  const { address } = await startServer(t, resolve('dist/examples/workspace/main.js'), {
    cwd: t.testdir(), env: { DATABASE_URL: 'sqlite::memory:' }
  })
  const home = await serve(t, address)
  const { page, dialogs, complaints, origins } = await openPage(t, home)
  await page.setViewportSize({ width: 1200, height: 720 })
  await page.locator('[name=username]').waitFor()
  await shoot(page, 'login')
  await t.test('a wrong password is told', async () => {
    await logIn(page, 'ann', 'wrong')
    await told(page, 'Wrong user name or password')
  })
  for (const [account, role] of [[ann, 'a manager'], [gil, 'a member of the other company']] as const) {
    await logIn(page, account.name)
    await t.test(`${role} searches, filters, sorts and pages`, async (t) => { await looksAround(t, page, account) })
    await t.test(`${role} creates, changes and deletes a task`, async (t) => { await writes(t, page, account) })
    await t.test(`${role} is told of errors at their fields`, async () => { await errs(page, account) })
    await t.test(`${role} is told of a change of somebody else, and does not overwrite it`, async (t) => {
      await conflicts(t, page, account, address)
    })
    if (account === gil) break
    await logOut(page)
    // The application remembers in memory how the last list was sorted.
    await page.goto('about:blank')
    await page.goto(home)
  }
  await t.test('a member sees the records of its company, and writes comments of its own', async (t) => {
    await seesOwn(t, page)
  })
  t.strictSame(dialogs, [], 'the browser does not ask for a password')
  t.strictSame(complaints, [])
  t.strictSame([...origins], [new URL(page.url()).origin], 'nothing is loaded from elsewhere')
})

/** Empties the search, and waits for all tasks. */
async function showAll (page: Page, { tasks }: Account): Promise<void> {
  await search(page, '', `1-10 of ${tasks}`)
}

async function looksAround (t: Test, page: Page, account: Account): Promise<void> {
  const { name, tasks, lastPage, search: { text, first, project }, filter } = account
  await range(page, `1-10 of ${tasks}`)
  await shoot(page, `${name}-list`)
  await page.getByRole('button', { name: `Go to page ${lastPage.number}` }).click()
  await range(page, `${lastPage.range} of ${tasks}`)
  await search(page, text, '1-5 of 5')
  await page.getByRole('columnheader', { name: 'Title' }).getByRole('button').click()
  await rows(page).first().getByText(first, { exact: true }).waitFor()
  t.match(await rows(page).first().innerText(), new RegExp(`${project}\\s+nobody`), 'related records by name')
  await showAll(page, account)
  await choose(page, 'Project', filter.project)
  await range(page, filter.range)
  await page.getByRole('button', { name: 'Clear value' }).first().click()
  await range(page, `1-10 of ${tasks}`)
}

async function writes (t: Test, page: Page, account: Account): Promise<void> {
  const { name, tasks, task } = account
  await page.getByRole('link', { name: 'Create' }).click()
  await form(page).getByLabel('Title').fill('Write the manual')
  await save(page)
  await faultOf(page, 'Project').getByText('Required').waitFor()
  await choose(page, 'Project', task.project)
  await choose(page, 'Assignee', task.assignee)
  await save(page)
  await range(page, `1-10 of ${tasks + 1}`)
  await search(page, 'manual', '1-1 of 1')
  await openRow(page, 'Write the manual')
  await form(page).getByLabel('Done').click()
  await form(page).getByLabel('Due').fill('2026-12-24')
  await shoot(page, `${name}-form`)
  await save(page)
  await told(page, /updated/)
  await range(page, '1-1 of 1')
  t.match(await rows(page).first().innerText(), task.row)
  await openRow(page, 'Write the manual')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await told(page, /deleted/)
  await showAll(page, account)
}

async function errs (page: Page, { name, faults }: Account): Promise<void> {
  await open(page, faults.menu)
  await page.getByRole('link', { name: 'Create' }).click()
  for (const { fill, fault } of faults.steps) {
    await fill(page)
    await save(page)
    await faultOf(page, fault).waitFor()
  }
  await shoot(page, `${name}-error`)
}

async function conflicts (t: Test, page: Page, account: Account, address: string): Promise<void> {
  const { name, colleague, contested } = account
  await open(page, 'Tasks')
  await search(page, contested.search, '1-5 of 5')
  await openRow(page, contested.title)
  const headers = { authorization: basic(colleague), 'content-type': 'application/json' }
  const changed = await fetch(address + contested.path, { method: 'PUT', headers, body: '{"due":"2027-01-01"}' })
  t.equal(changed.status, 200)
  await form(page).getByLabel('Title').fill('Mine')
  await save(page)
  await told(page, /changed by somebody else/)
  await shoot(page, `${name}-conflict`)
  t.equal(await form(page).getByLabel('Title').inputValue(), 'Mine', 'what was typed is still there')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.locator('input[value="2027-01-01"]').waitFor()
  await form(page).getByLabel('Title').fill('Mine')
  await save(page)
  await told(page, /updated/)
  await showAll(page, account)
}

async function seesOwn (t: Test, page: Page): Promise<void> {
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
  await openRow(page, 'I take it.')
  await form(page).getByLabel('Text').fill('I do not take it.')
  await save(page)
  await rows(page).first().getByText('I do not take it.').waitFor()
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

/** A task of the program of docs/admin.md, as the API shows it. */
async function taskOf (address: string, title: string): Promise<Record<string, unknown>> {
  const answer = await fetch(`${address}/api/task/?title=${title}`)
  return (await answer.json() as { objects: Array<Record<string, unknown>> }).objects[0] ?? {}
}

test('the program of docs/admin.md with react-admin', async (t) => {
  if (lacks(t, 'chromium')) return
  const { page, complaints, origins, address } = await openProgram(t, 'react-admin', folder)
  // Five and a half hours ahead of UTC.
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Kolkata' })
  await page.reload()
  await page.getByText('1-10 of 30').waitFor()
  await page.getByText('3/1/2026, 3:00:00 PM').first().waitFor()
  await search(page, 'count', '1-10 of 10')
  await page.getByRole('row', { name: /Count 3/ }).first().getByText('Ann').waitFor()
  await page.getByText('Count 3', { exact: true }).click()
  const title = page.locator('.edit-page').getByLabel('Title')
  await title.fill('x'.repeat(41))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.Mui-error', { hasText: '40' }).first().waitFor()
  await title.fill('Counted')
  await form(page).getByLabel('Due').fill('2026-03-02T01:15')
  await save(page)
  await rows(page).getByText('3/2/2026, 1:15:00 AM').waitFor()
  t.match(await taskOf(address, 'Counted'), { due: '2026-03-01 19:45:00' }, 'a moment is stored in UTC')
  await openRow(page, 'Counted')
  t.equal(await form(page).getByLabel('Due').inputValue(), '2026-03-02T01:15')
  await title.fill('Counted again')
  await save(page)
  const row = rows(page).filter({ hasText: 'Counted again' })
  await row.waitFor()
  t.match(await taskOf(address, 'Counted again'), { due: '2026-03-01 19:45:00' }, 'and stays as it is')
  await row.getByRole('link', { name: 'Clone' }).click()
  await form(page).getByLabel('Title').fill('Count a copy')
  await save(page)
  await range(page, '1-10 of 11')
  await search(page, 'copy', '1-1 of 1')
  t.match(await taskOf(address, 'Count a copy'), { id: 31, person_id: 1, due: '2026-03-01 19:45:00' })
  await openRow(page, 'Count a copy')
  await form(page).getByLabel('Due').fill('')
  await form(page).getByLabel('Due').blur()
  await save(page)
  await rows(page).getByText('Count a copy').waitFor()
  t.match(await taskOf(address, 'Count a copy'), { due: null })
  t.pass('it lists, searches, shows an error at its field, saves and copies')
  t.strictSame(complaints, [])
  t.strictSame([...origins], [address], 'nothing is loaded from elsewhere')
})
