import { test } from 'tap'
import { pageFiles, readPage } from './page.js'
import { runPage } from './run-page.js'

for (const page of pageFiles.map(readPage)) {
  const isRun = page.blocks.some(({ language }) => language === 'js')
  if (isRun) {
    test(`what ${page.file} shows is what happens`, async (t) => {
      await runPage(t, page)
    })
  }
}
