// @once: a page in a browser, on SQLite
// @alone: takes the memory of a browser
// @long: starts a browser

import { test } from 'tap'
import { lacks } from '../support/engines/lacks.js'
import { openProgram } from './bundled.js'

test('the program of docs/admin.md with refine', async (t) => {
  if (lacks(t, 'chromium')) return
  const { page, complaints, origins, address } = await openProgram(t, 'refine', '.')
  await page.getByText('Page 1 of 3, 30 tasks').waitFor()
  t.match(await page.getByRole('listitem').first().innerText(), /^Count 30 \(Ben\)/)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('Page 2 of 3').waitFor()
  await page.getByText('Count 18 (Ben)').waitFor()
  await page.getByRole('button', { name: 'Add' }).click()
  await page.locator('em', { hasText: 'must' }).waitFor()
  await page.getByPlaceholder('Title').fill('Rest')
  await page.getByRole('button', { name: 'Add' }).click()
  await page.getByText('31 tasks').waitFor()
  await page.getByPlaceholder('Search').fill('rest')
  await page.getByText('Page 1 of 1, 1 tasks').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('0 tasks').waitFor()
  t.pass('it lists, pages, searches, creates, deletes, and shows an error at its field')
  t.strictSame(complaints, [])
  t.strictSame([...origins], [address], 'nothing is loaded from elsewhere')
})
