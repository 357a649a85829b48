// @once: about other plugins of Fastify
// @long: starts other programs
// @alone: loads TypeScript one file at a time, as @fastify/autoload does

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import { test } from 'tap'
import { register } from 'tsx/esm/api'
import { checkAnswers } from '../support/answers.js'
import { basic } from '../support/site.js'
import { startServer } from '../support/process.js'
import { requireWorking } from './working.js'

// It does not see by itself that TypeScript can be imported here.
process.env['FASTIFY_AUTOLOAD_TYPESCRIPT'] = 'true'
register()
const project = resolve('test/neighbours/site/app.ts')

test('@fastify/autoload: the plugin, and each resource, in a file of its own', async (t) => {
  const app = Fastify()
  await checkAnswers(t, app)
  t.teardown(async () => { await app.close() })
  const { default: site } = await import(pathToFileURL(project).href) as { default: FastifyPluginAsync }
  await app.register(site)
  await requireWorking(t, app)
  t.strictSame(Object.keys((await app.inject('/api/user/2/')).json()), [
    'id', 'username', 'join_date', 'active', 'admin'
  ])
  t.equal((await app.inject('/api/note/')).statusCode, 404, 'there is no file for it')
})

test('fastify-cli starts it, serves it and ends it', async (t) => {
  const { address, stop, output } = await startServer(t, resolve('node_modules/fastify-cli/cli.js'), {
    args: ['start', '--address=127.0.0.1', '--log-level=info', project],
    cwd: process.cwd(),
    env: { NODE_OPTIONS: '--import=tsx', FASTIFY_AUTOLOAD_TYPESCRIPT: 'true', FASTIFY_CLOSE_GRACE_DELAY: '5000' }
  })
  t.match(await (await fetch(`${address}/api/message/?user__username=alice`)).json(), {
    objects: [{ content: 'hello' }]
  })
  const created = await fetch(`${address}/api/message/`, {
    method: 'POST', body: '{"content":"x"}', headers: { authorization: basic('alice') }
  })
  t.equal(created.status, 201)
  t.equal(await stop(), 0)
  t.notMatch(output(), basic('alice').slice(6))
})
