// @once: runs the pages, on SQLite

import { test } from 'tap'
import { firstPages, readPage } from './page.js'
import { runPage } from './run-page.js'

for (const page of firstPages.map(readPage)) {
  test(`what ${page.file} shows is what happens`, async (t) => {
    await runPage(t, page)
  })
}
