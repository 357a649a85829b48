// @once: runs the pages, on SQLite

import Fastify from 'fastify'
import { test } from 'tap'
import restModels, { type HostAuthOptions, type ResourceOptions, type RestModelsOptions } from '../../lib/index.js'
import { checkOptions } from '../../lib/plugin/options.js'
import { defaultLimits } from '../../lib/plan/limits.js'
import type { UserAuthOptions } from '../../lib/policy/user-options.js'
import { fieldKinds } from '../../lib/fields/field-kinds.js'
import { openDatabase } from '../support/database.js'
import { readPage } from './page.js'

// The compiler refuses these tables if an option is missing in one of them.
const ofPlugin: Record<keyof RestModelsOptions, true> = {
  db: true,
  readDb: true,
  defaultAuth: true,
  prefix: true,
  decorator: true,
  defaultLimit: true,
  maxLimit: true,
  limits: true,
  allowedOrigins: true,
  slowStatement: true
}
const ofResource: Record<keyof ResourceOptions, true> = {
  auth: true,
  scope: true,
  beforeWrite: true,
  afterWrite: true,
  exclude: true,
  ownerField: true,
  readOnly: true,
  filterable: true,
  search: true,
  etag: true,
  path: true,
  defaultLimit: true,
  maxLimit: true,
  config: true
}
const ofUserAuth: Record<keyof UserAuthOptions, true> = {
  username: true,
  password: true,
  active: true,
  admin: true,
  verify: true,
  protect: true,
  fields: true,
  permits: true
}
const ofHostAuth: Record<keyof HostAuthOptions, true> = { protect: true, permits: true, users: true, scheme: true }

/** The names in the first cells of the rows under a heading of a page, without those in what is said of them. */
function namesUnder (file: string, heading: string): string[] {
  const { text } = readPage(file)
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? text.split(/^## /m)[0] ?? ''
  return [...section.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/(?<!\b(?:an|of) )`(\w+)`/g)].map(([, name = '']) => name))
}

test('the pages name each option and each limit, and no other', (t) => {
  t.same(namesUnder('docs/options.md', 'Of a resource').sort(), Object.keys(ofResource).sort())
  t.same(namesUnder('docs/options.md', 'Of the plugin').sort(), Object.keys(ofPlugin).sort())
  t.same(namesUnder('docs/options.md', 'Limits').sort(), Object.keys(defaultLimits).sort())
  t.same(namesUnder('docs/policies.md', '').sort(), Object.keys(ofUserAuth).sort())
  t.same(namesUnder('docs/policies.md', 'The login of your application').sort(), Object.keys(ofHostAuth).sort())
  t.end()
})

test('the page about models has each kind of field', (t) => {
  const named = [...readPage('docs/models.md').text.matchAll(/^\| `(\w+)\(/gm)].map(([, kind = '']) => kind)
  t.same(named.sort(), Object.keys(fieldKinds).filter((kind) => !['key', 'compositeKey'].includes(kind)).sort())
  t.end()
})

test('the defaults on the page about options are those that there are', async (t) => {
  const { text } = readPage('docs/options.md')
  const db = await openDatabase(t)
  const { prefix, decorator, defaultLimit, maxLimit, slowStatement } = checkOptions({ db })
  t.match(text, `| \`prefix\` | string | \`${prefix}\` |`)
  t.match(text, `| \`decorator\` | string | \`${decorator}\` |`)
  t.match(text, `| number | ${defaultLimit}, ${maxLimit} |`)
  t.match(text, `| number | ${slowStatement} |`)
  const shown = (value: number): string => value.toLocaleString('en-US')
  const {
    offset, filters, joins, totalJoins, inItems, patternLength, valueLength, queryLength, statementTime, pageBytes
  } = defaultLimits
  for (const row of [
    [offset], [filters], [joins, totalJoins], [inItems], [patternLength, valueLength, queryLength], [statementTime],
    [pageBytes]
  ]) {
    t.match(text, `| ${row.map(shown).join(', ')} |`)
  }
  const app = Fastify()
  t.teardown(async () => { await app.close() })
  await app.register(restModels, { db })
  t.ok(app.hasDecorator('restModels'))
})
