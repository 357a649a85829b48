// @once: runs the pages, on SQLite
// @long: starts fifty programs

import { test } from 'tap'
import { firstPages, pageFiles, postgresPages, readPage } from './page.js'
import { runPage } from './run-page.js'

// The recipes, which start many processes, and the program that is one have files of their own. Others need PostgreSQL.
const elsewhere = [...firstPages, 'docs/recipes.md', 'docs/scaling.md', ...postgresPages]
const pages = pageFiles.filter((file) => !elsewhere.includes(file)).map(readPage)

for (const page of pages.filter(({ blocks }) => blocks.some(({ language }) => language === 'js'))) {
  test(`what ${page.file} shows is what happens`, async (t) => {
    await runPage(t, page)
  })
}

test('requests and answers stand on no page without a program that answers them', (t) => {
  for (const { file, blocks } of [...firstPages.map(readPage), ...pages]) {
    const first = blocks.find(({ language, content }) => language === 'js' ||
      (language === 'console' && content.includes('$ curl')))
    t.not(first?.language, 'console', file)
  }
  t.end()
})
