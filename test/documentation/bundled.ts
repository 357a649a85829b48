import { build } from 'esbuild'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { openPage, type WatchedPage } from '../example/chromium.js'
import { startServer } from '../support/process.js'
import { readPage } from './page.js'

const { blocks } = readPage('docs/admin.md')

interface Program extends WatchedPage {
  /** Of the page and of the API. */
  readonly address: string
}

/**
 * Opens the program of a section of docs/admin.md, on the origin of the program that serves the API. The other
 * packages are those of a folder in which they are installed.
 */
export async function openProgram (t: Test, section: string, installed: string): Promise<Program> {
  const folder = mkdtempSync(join(resolve('dist'), 'page-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const site = blocks.find(({ language }) => language === 'js')
  const program = blocks.find((block) => block.language === 'jsx' && block.section === section)
  writeFileSync(join(folder, 'site.mjs'), String(site?.content))
  const { outputFiles: [script] } = await build({
    stdin: { contents: String(program?.content), loader: 'jsx', resolveDir: resolve(installed) },
    alias: { 'fastify-rest-models': resolve('dist/lib') },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error'
  })
  const { address } = await startServer(t, 'site.mjs', { cwd: folder })
  const watched = await openPage(t, 'about:blank')
  const { page } = watched
  await page.route(`${address}/`, async (route) => await route.fulfill({
    contentType: 'text/html', body: '<div id="root"></div><script type="module" src="/page.js"></script>'
  }))
  await page.route(`${address}/page.js`, async (route) => await route.fulfill({
    contentType: 'text/javascript; charset=utf-8', body: script?.text ?? ''
  }))
  await page.goto(`${address}/`)
  return { ...watched, address }
}
