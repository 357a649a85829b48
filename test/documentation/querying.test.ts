// @once: runs the pages, on SQLite

import { test } from 'tap'
import { fieldKinds } from '../../lib/fields/field-kinds.js'
import { operators as operatorTable } from '../../lib/fields/operators.js'
import { readPage } from './page.js'
import { commandsOf } from './shell.js'

const { text, blocks } = readPage('docs/querying.md')
const requests = blocks.filter(({ language }) => language === 'console').flatMap(({ content }) => commandsOf(content))
  .map(({ words }) => words.at(-1) ?? '')

test('the page about querying has a heading for each operator, with a request below it, and for nothing else', (t) => {
  const [, section = ''] = /^## Operators\n([\s\S]*?)^## /m.exec(text) ?? []
  const parts = section.split(/^### /m).slice(1).map((part) => ({ name: part.slice(0, part.indexOf('\n')), part }))
  t.same(parts.map(({ name }) => name).sort(), Object.keys(operatorTable).sort())
  for (const { name, part } of parts) t.match(part, new RegExp(`curl '[^']*__${name}=`), name)
  t.end()
})

test('the page about querying tells the operators of each kind of field', (t) => {
  const rows = [...text.matchAll(/^\| (`[a-z` ]+) \| (.*) \|$/gm)].map(([, kinds = '', names = '']) => [
    namesIn(kinds), namesIn(names)
  ] as const)
  const documented = Object.fromEntries(rows.flatMap(([kinds, names]) =>
    kinds.map((kind) => [kind, [...names].sort()])))
  const { key, foreignKey, compositeKey, ...others } = fieldKinds
  t.same(documented, Object.fromEntries(Object.entries(others).map(([kind, row]) => [kind, [...row.operators].sort()])))
  for (const { operators } of [key, foreignKey]) {
    t.same(operators, others.integer.operators, 'keys have those of the number that they hold')
  }
  t.same([...compositeKey.operators].sort(), ['eq', 'in', 'ne'])
  t.end()
})

function namesIn (cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

test('the page about querying uses every parameter, and makes each mistake in a query that has a code', (t) => {
  for (const part of [
    'ordering=-', 'ordering=user,-id', 'page=2', 'include=user',
    'after=', 'after=W', 'user__username=', '&id=4', '__in=',
    '%22', '%5C%25'
  ]) {
    t.ok(requests.some((request) => request.includes(part)), part)
  }
  for (const code of [
    'UNKNOWN_PARAMETER', 'UNKNOWN_OPERATOR', 'INVALID_VALUE', 'INVALID_PAGE', 'INVALID_ORDERING', 'INVALID_INCLUDE'
  ]) {
    t.match(text, `REST_MODELS_${code}`)
  }
  t.end()
})
