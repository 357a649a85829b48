// @once: runs the pages, on SQLite
// @long: starts twenty programs

import { test } from 'tap'
import { readPage } from './page.js'
import { runPage } from './run-page.js'

test('what docs/recipes.md shows is what happens', async (t) => {
  await runPage(t, readPage('docs/recipes.md'))
})
