// @once: about browsers, which do not see the engine
// @alone: takes the memory of a browser
// @long: starts a browser

import type { Page } from 'playwright-core'
import { test } from 'tap'
import { openPage } from '../example/chromium.js'
import { lacks } from '../support/engines/lacks.js'
import { buildHost, logins } from './logins.js'

interface Answer { readonly status: number, readonly text: string }

/** Sends a request from a page, with the cookies of the browser. */
async function send (page: Page, method: string, path: string, body?: string): Promise<Answer> {
  return await page.evaluate(async ({ method, path, body }) => {
    const reply = await fetch(path, { method, ...(body === undefined ? {} : { body }) })
    return { status: reply.status, text: await reply.text() }
  }, { method, path, body })
}

test('no dialog of the browser opens over an app with sessions', async (t) => {
  if (lacks(t, 'chromium')) return
  t.setTimeout(120_000)
  const app = await buildHost(t, logins['@fastify/secure-session']!)
  app.get('/', async (_request, reply) => await reply.type('text/html').send('<title>Notes</title>'))
  app.get('/basic', async (_request, reply) =>
    await reply.code(401).header('www-authenticate', 'Basic realm="Control"').send())
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const { page, dialogs } = await openPage(t, address)
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    const path = method === 'GET' || method === 'POST' ? '/api/note/' : '/api/note/1/'
    t.match(await send(page, method, path), { status: 401, text: /REST_MODELS_AUTHENTICATION_FAILED/ }, method)
  }
  const opened = await page.goto(`${address}/api/note/`)
  t.equal(opened?.status(), 401, 'nor when the address is opened by itself')
  t.match(await page.content(), /Authentication failed/)
  await page.goto(address)
  t.equal((await send(page, 'POST', '/login/bob')).status, 200)
  t.match(await send(page, 'POST', '/api/note/', '{"message": "hello"}'), { status: 201, text: /"author":"bob"/ })
  t.match(await send(page, 'GET', '/api/note/'), { status: 200, text: /"message":"hello"/ })
  t.match(await send(page, 'DELETE', '/api/note/1/'), { status: 403 })
  t.equal((await send(page, 'POST', '/logout')).status, 200)
  t.match(await send(page, 'GET', '/api/note/'), { status: 401 })
  t.strictSame(dialogs, [])
  t.equal((await send(page, 'GET', '/basic')).status, 401)
  t.strictSame(dialogs, [`GET ${address}/basic: Control`], 'one would have been seen')
})
