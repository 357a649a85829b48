// @once: runs the pages, on SQLite
// @long: about the tests themselves

import { test, type Test } from 'tap'
import { parseCurl } from './curl.js'
import { blocksOf } from './page.js'
import { arePrintedLines, isPrinted, joinLines } from './printed.js'
import { runPage, type Reporter } from './run-page.js'
import { commandsOf, wordsOf } from './shell.js'

/** What reads the pages must see when one of them says what is not so. */

test('a printed text is what there is, but for what … stands for, which hides no record', (t) => {
  const is = (printed: string, actual: string): boolean => isPrinted(printed, actual, Date.now())
  t.ok(is('{"id":1,"a.b":"?"}', '{"id":1,"a.b":"?"}'))
  t.notOk(is('{"id":1}', '{"id":1} '))
  t.notOk(is('a.c', 'abc'))
  t.ok(is('{"id":1,…}', '{"id":1,"content":"hello"}'))
  t.notOk(is('{"objects":[{"id":1,…}]}', '{"objects":[{"id":1},{"id":2}]}'), 'records are counted')
  t.ok(is('{"objects":[…]}', '{"objects":[{"id":1},{"id":2}]}'))
  t.ok(is('at 2026-11-20 15:04:05', `at ${new Date().toISOString().slice(0, 19).replace('T', ' ')}`))
  t.notOk(is('at 2026-11-20 15:04:05', 'at 2026-11-20 15:04:05'), 'another time than that of the page')
  t.equal(joinLines(['{"a":1,', '  "b":2}']), '{"a":1,"b":2}')
  t.ok(arePrintedLines(['200', '…', 'c'], ['200', 'a', 'b', 'c'], 0))
  t.ok(arePrintedLines(['200', '…'], ['200'], 0))
  t.notOk(arePrintedLines(['200', 'c'], ['200', 'a', 'c'], 0))
  t.notOk(arePrintedLines(['200', '…', 'd'], ['200', 'a', 'c'], 0))
  t.notOk(arePrintedLines(['200'], ['200', 'a'], 0))
  t.end()
})

test('commands are read as a shell reads them', (t) => {
  t.same(wordsOf('curl -d \'{"a": "b\\c"}\' "x\\"y" a\\ b'), ['curl', '-d', '{"a": "b\\c"}', 'x"y', 'a b'])
  t.same(commandsOf('$ a \\\n    b\nprinted\n\n$ c').map(({ words, printed }) => [words, printed]), [
    [['a', 'b'], ['printed']], [['c'], []]
  ])
  t.throws(() => commandsOf('curl x'), /begins with a command/)
  t.match(parseCurl(wordsOf("-i -u a:b:c -H 'X-Y: z' -d 1 -d 2 http://localhost:3000/p?q=%20")), {
    method: 'POST',
    path: '/p?q=%20',
    headers: { 'x-y': 'z', authorization: 'Basic YTpiOmM=' },
    body: '1&2',
    isWithHead: true
  })
  t.throws(() => parseCurl(['--form', 'x', 'localhost:3000']), /is not known/)
  t.throws(() => parseCurl(['http://example.com/']), /localhost:3000/)
  t.throws(() => blocksOf('```js\n1'), /is not closed/)
  t.end()
})

const server = `
import { createServer } from 'node:http'
const server = createServer((request, response) => response.end('{"path":"' + request.url + '"}'))
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port))`

async function verdicts (t: Test, text: string): Promise<boolean[]> {
  const seen: boolean[] = []
  const reporter = {
    ok: (value: unknown) => seen.push(value === true), teardown: t.teardown.bind(t)
  } as unknown as Reporter
  await runPage(reporter, { file: 'page.md', text, blocks: blocksOf(text) })
  return seen
}

test('a page keeps cookies in its file, and an answer in a variable, and sends them when it says so', async (t) => {
  const echo = server.replace("response.end('{\"path\":\"' + request.url + '\"}')", `{
  response.setHeader('set-cookie', ['a=1; Path=/', 'b=2'])
  response.end(request.headers.cookie + ' ' + request.headers['x-token'] + ' ' + request.url)
}`)
  const page = (commands: string): string => `\`\`\`js${echo}\n\`\`\`\n\n\`\`\`console\n${commands}\n\`\`\`\n`
  const url = 'http://localhost:3000'
  t.same(await verdicts(t, page([
    `$ curl -b cookies.txt ${url}/1\nundefined undefined /1`, `$ curl -c cookies.txt ${url}/2\nundefined undefined /2`,
    `$ curl ${url}/3\nundefined undefined /3`, `$ curl -b cookies.txt ${url}/4\na=1; b=2 undefined /4`,
    `$ TOKEN=$(curl -s ${url}/5)`, `$ curl -H "x-token: $TOKEN" ${url}/6\nundefined undefined undefined /5 /6`,
    `$ curl -H "x-token: $OTHER" ${url}/7\nundefined $OTHER /7`
  ].join('\n\n'))), [true, true, true, true, true, true])
})

test('a page fails if it shows another answer than there is, and throws if a command is not run', async (t) => {
  const page = (commands: string): string => `\`\`\`js${server}\n\`\`\`\n\n\`\`\`console\n${commands}\n\`\`\`\n`
  const answers = ['{"path":"/a"}', '{"path":\n  "/a"}', '{"path":"/b"}', '']
    .map((answer) => `$ curl http://localhost:3000/a\n${answer}`)
  t.same(await verdicts(t, page(answers.join('\n\n'))), [true, true, false, false])
  t.same(await verdicts(t, page('$ curl -i http://localhost:3000/a\nHTTP/1.1 200 OK\n…\n\n{"path":"/a"}\n\n$ curl -i ' +
    'http://localhost:3000/a\nHTTP/1.1 404 Not Found\n…\n\n{"path":"/a"}')), [true, false])
  t.same(await verdicts(t, page('$ npm install no-such-thing\n\n$ npm install fastify kysely@0.28')), [false, true])
  await t.rejects(verdicts(t, page('$ rm -r /')), /is not run/)
  await t.rejects(verdicts(t, page('$ npx no-such-thing')), /is not run/)
  const version = '$ npx fastify-rest-models --version'
  t.same(await verdicts(t, page(`${version}\n0.0.0\n\n${version}\n…`)), [false, true])
  await t.rejects(verdicts(t, '```console\n$ curl http://localhost:3000/\n```'), /serves/)
})

test('a program that only prints must print what its page says; each section begins in an empty folder', async (t) => {
  const page = '## A\n\n```js\n// a.mjs\nconsole.log(1)\n```\n\n```console\n$ node a.mjs\n1\n\n$ node ' +
    'a.mjs\n2\n```\n\n## B\n\n```js\n// b.mjs\n```\n\n```console\n$ node a.mjs\n```\n'
  await t.rejects(verdicts(t, page), /Cannot find module/)
  t.same(await verdicts(t, page.slice(0, page.indexOf('## B'))), [true, false])
})
