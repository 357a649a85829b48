// @once: runs the pages, on SQLite

import { dirname, join, normalize } from 'node:path'
import { test } from 'tap'
import { anchorsOf, isThere, linksOf, pageFiles, proseOf, readPage } from './page.js'

for (const { file, text } of pageFiles.map(readPage)) {
  test(`the links of ${file} lead somewhere`, (t) => {
    for (const link of linksOf(text)) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? file : normalize(join(dirname(file), path))
      t.ok(isThere(target), link)
      if (anchor !== undefined) t.ok(anchorsOf(readPage(target).text).includes(anchor), link)
    }
    t.end()
  })
}

test('the README leads to every page', (t) => {
  const links = linksOf(readPage('README.md').text)
  t.same(pageFiles.slice(1).filter((file) => !links.includes(file)), [])
  t.end()
})

test('each page is reached from another page, too', (t) => {
  for (const file of pageFiles.slice(1)) {
    const others = pageFiles.slice(1).filter((other) => other !== file)
    t.ok(others.some((other) => linksOf(readPage(other).text).some((link) =>
      normalize(join(dirname(other), link.replace(/#.*/, ''))) === file)), file)
  }
  t.end()
})

test('the README names the two commands that do everything', (t) => {
  const { text } = readPage('README.md')
  t.match(text, 'npm ci && npm start')
  t.match(text, 'npm ci && npm test')
  t.end()
})

test('links and names of headings are found as GitHub finds them, and not in blocks', (t) => {
  const text = '# One `two`, three-four\n\n[a](b.md#c) [d](https://example.com/) [e](#f)\n\n```js\n# ' +
    'no\n[g](h)\n```\n\n## Five & six\n'
  t.same(linksOf(text), ['b.md#c', '#f'])
  t.same(anchorsOf(text), ['one-two-three-four', 'five--six'])
  t.notMatch(proseOf(text), 'no')
  t.end()
})
