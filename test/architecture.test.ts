import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import ts from 'typescript'

/**
 * What each room may import, from the innermost outwards; a name with `type` in front may be imported for its types alone.
 * A room is a folder of lib, the folder schemas, or one of the files that lie directly in lib.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  nearest: ['errors'],
  vocabulary: ['errors'],
  model: ['vocabulary', 'nearest', 'errors'],
  schemas: ['model', 'vocabulary', 'type errors'],
  request: ['errors'],
  plan: ['request', 'model', 'vocabulary', 'nearest', 'errors'],
  query: ['plan', 'model', 'vocabulary', 'errors'],
  response: ['type query', 'type request', 'model', 'type vocabulary', 'errors'],
  policy: ['query', 'plan', 'request', 'model', 'vocabulary', 'nearest', 'errors'],
  tables: ['query', 'plan', 'schemas', 'model', 'vocabulary', 'errors'],

  introspection: ['query', 'plan', 'schemas', 'model', 'vocabulary', 'nearest', 'errors'],

  registration: ['policy', 'plan', 'model', 'nearest', 'errors'],
  options: ['registration', 'policy', 'query', 'plan', 'nearest', 'errors'],
  access: ['type registration', 'type policy', 'type plan', 'model'],
  warnings: ['type registration', 'plan', 'model'],
  resource: ['type registration', 'type access', 'schemas', 'type policy', 'response', 'query', 'plan', 'model', 'type vocabulary', 'errors'],
  openapi: ['type resource', 'schemas', 'policy', 'plan', 'model', 'type vocabulary', 'errors'],
  handlers: ['type resource', 'policy', 'response', 'query', 'plan', 'request', 'model', 'vocabulary', 'errors'],
  crowd: [],
  flush: ['crowd'],
  admission: ['errors'],
  routes: ['type resource', 'type admission', 'type flush', 'handlers', 'openapi', 'schemas', 'response', 'policy', 'errors'],
  container: ['registration', 'type options', 'access', 'warnings', 'admission', 'flush', 'resource', 'routes', 'tables', 'schemas', 'policy', 'response', 'query', 'model', 'errors'],
  registry: ['type options', 'registration', 'container', 'type resource', 'type model', 'errors'],
  index: ['options', 'registry', 'type registration', 'tables', 'policy', 'type query', 'type plan', 'model', 'type vocabulary', 'errors'],

  client: ['type model', 'type vocabulary', 'type errors'],

  'sqlite-driver': ['errors'],
  'sqlite-file': [],
  'sqlite-lock': [],
  'sqlite-wal': ['sqlite-lock'],
  'sqlite-group-commit': ['crowd', 'sqlite-lock', 'type query'],
  'sqlite-counting-driver': ['type sqlite-group-commit', 'sqlite-lock'],
  'sqlite-read-lock': [],
  'sqlite-connections': ['sqlite-group-commit', 'sqlite-counting-driver', 'sqlite-lock', 'type sqlite-read-lock', 'query'],
  sqlite: ['sqlite-connections', 'sqlite-driver', 'sqlite-file', 'sqlite-lock', 'sqlite-read-lock', 'sqlite-wal', 'query', 'nearest', 'errors'],
  connect: ['type query', 'nearest', 'errors'],
  postgres: ['connect', 'query'],
  mariadb: ['connect', 'query'],

  inspection: ['registry', 'type resource', 'policy', 'query', 'plan', 'request', 'model', 'type vocabulary', 'errors'],
  command: ['index', 'inspection', 'introspection', 'sqlite', 'postgres', 'mariadb', 'tables', 'policy', 'type query', 'model', 'nearest', 'errors'],
  tools: ['command', 'inspection', 'introspection']
}

/** Who may import which package, by room or by file; `types` lists those that may import its types alone. */
const packages: Readonly<Record<string, { readonly values: readonly string[], readonly types?: readonly string[] }>> = {
  '@fastify/swagger': { values: ['command/documentation'] },
  '@fastify/swagger-ui': { values: ['command/documentation'] },
  'cli-table3': { values: ['command/check'] },
  commander: { values: ['command/run'] },
  fastify: { values: ['command/serve-database', 'command/load-app'], types: ['command', 'inspection/inspect', 'policy', 'response/failure', 'registration', 'warnings', 'admission', 'handlers', 'routes', 'container', 'registry', 'index'] },
  kysely: { values: ['vocabulary', 'query', 'tables', 'introspection', 'inspection/unindexed', 'sqlite', 'sqlite-connections', 'sqlite-counting-driver', 'postgres', 'mariadb'], types: ['model/types', 'connect', 'command'] },
  '@sinclair/typebox': { values: ['schemas', 'vocabulary'], types: ['resource', 'routes'] },
  '@fastify/basic-auth': { values: ['policy/credentials'] },
  '@fastify/busboy': { values: ['request/multipart'] },
  '@fastify/error': { values: ['errors', 'command/host-check'] },
  '@node-rs/argon2': { values: ['policy/passwords'] },
  ajv: { values: ['schemas/check'], types: ['schemas/formats'] },
  'ajv-formats': { values: ['schemas/formats', 'model/define-model'] },
  'better-sqlite3': { values: ['sqlite'], types: ['sqlite-connections', 'sqlite-group-commit', 'sqlite-read-lock'] },
  'fast-json-stringify': { values: ['response/serializer'] },
  'fastest-levenshtein': { values: ['nearest'] },
  'fastify-plugin': { values: ['index'] },
  pg: { values: ['connect'] },
  mysql2: { values: ['connect/mariadb-node', 'connect/mariadb-probe'], types: ['connect'] },
  'p-retry': { values: ['query/insist', 'tables/schema-change', 'sqlite-lock'] },
  uuid: { values: ['plan/plan-write'] },
  'lru-cache': { values: ['policy/passwords', 'query', 'connect', 'sqlite-connections'] },
  'p-limit': { values: ['policy/passwords'] },
  'secure-json-parse': { values: ['request/payload'] }
}

const root = fileURLToPath(new URL('..', import.meta.url))

interface Import {
  /** Path from the root, without the extension. */
  readonly file: string
  /** Likewise for a file of our own; the name of a package or of a module of Node otherwise. */
  readonly target: string
  readonly isOwn: boolean
  readonly isType: boolean
}

function sourceFiles (folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts')).map((name) => join(folder, name))
}

const files = ['lib', 'schemas'].flatMap(sourceFiles).sort()

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const parse = (path: string): ts.SourceFile => ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true)

function hasAny (node: ts.Node): boolean {
  return node.kind === ts.SyntaxKind.AnyKeyword || ts.forEachChild(node, (child) => hasAny(child) || undefined) === true
}

/** Every import of a file: import and export lines, `import()` and types written `import('…')`. */
function importsOf (path: string): Import[] {
  const file = path.replace(/\.ts$/, '')
  const found: Import[] = []
  const add = (specifier: ts.Node | undefined, isType: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return
    const { text } = specifier
    const isOwn = text.startsWith('.')
    const target = isOwn ? relative(root, join(root, dirname(path), text)).replace(/\.js$/, '') : packageOf(text)
    found.push({ file, target, isOwn, isType })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node.importClause?.phaseModifier, node.importClause?.name, node.importClause?.namedBindings))
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly || isTypeOnly(undefined, undefined, node.exportClause))
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], false)
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true)
    ts.forEachChild(node, visit)
  }
  visit(parse(path))
  return found
}

function isTypeOnly (phase: ts.SyntaxKind | undefined, name: ts.Identifier | undefined, bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined): boolean {
  if (phase === ts.SyntaxKind.TypeKeyword) return true
  if (name !== undefined || bindings === undefined || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) return false
  return bindings.elements.every(({ isTypeOnly }) => isTypeOnly)
}

function packageOf (specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

/** `lib/query/list` is of room `query`, `lib/index` is a room of its own, `schemas/key` is of room `schemas`. */
function roomOf (file: string): string {
  const [first = '', second = ''] = file.split('/')
  return first === 'lib' ? second : first
}

/** A file as the table of packages names it. */
const shortName = (file: string): string => file.replace(/^lib\//, '')
const isListed = (names: readonly string[] | undefined, file: string): boolean => names?.some((name) => name === roomOf(file) || name === shortName(file)) === true

const imports = files.flatMap(importsOf)

test('every file imports only what stands before it', async (t) => {
  t.ok(imports.length > 200, `${imports.length} imports are looked at`)
  for (const { file, target, isType } of imports.filter(({ isOwn }) => isOwn)) {
    const [from, to] = [roomOf(file), roomOf(target)]
    if (from === to) continue
    const allowed = rooms[from] ?? []
    const isAllowed = allowed.includes(to) || (isType && allowed.includes(`type ${to}`))
    if (isAllowed) continue
    const what = allowed.includes(`type ${to}`) ? `a value of '${target}'` : `'${target}'`
    t.fail(`'${file}' imports ${what}, but '${from}' may import only: ${allowed.join(', ') || 'nothing'}. ` +
      'Move what it needs to a room that both may import, or let the caller pass it in; if the edge is right, add it to the table of rooms in this test')
  }
  t.same(imports.filter(({ isOwn, target }) => isOwn && !existsSync(join(root, `${target}.ts`))), [], 'every import names a file')
})

test('the table of rooms names every room once, and only rooms that stand before', async (t) => {
  const names = Object.keys(rooms)
  const missing = [...new Set(files.map((file) => roomOf(file.replace(/\.ts$/, ''))))].filter((room) => !names.includes(room))
  t.same(missing, [], 'a new room has to be given its place: add it to the table of rooms in this test, after all that it imports')
  for (const [index, [name, allowed]] of Object.entries(rooms).entries()) {
    const behind = allowed.map((other) => other.replace(/^type /, '')).filter((other) => !names.slice(0, index).includes(other))
    t.same(behind, [], `'${name}' may not point to what stands behind it`)
  }
})

test('no files import each other in a circle, not even types', async (t) => {
  const targets = new Map(files.map((path) => [path.replace(/\.ts$/, ''), [] as string[]]))
  for (const { file, target, isOwn } of imports) if (isOwn) targets.get(file)?.push(target)
  const done = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (path.includes(file) || done.has(file)) return
    for (const target of targets.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const file of targets.keys()) walk(file, [])
  t.same(circles, [], 'move what the files of a circle share into a file that imports neither of them')
})

test('packages are imported by the rooms that know them alone', async (t) => {
  for (const { file, target, isType } of imports.filter(({ isOwn, target }) => !isOwn && !target.startsWith('node:'))) {
    const row = packages[target]
    if (row === undefined) {
      t.fail(`'${file}' imports the package '${target}', which is new: if it is really needed, add it to the dependencies and to the table of packages in this test`)
    } else if (!isListed(row.values, file) && !(isType && isListed(row.types, file))) {
      t.fail(`'${file}' imports ${isType ? 'types' : 'values'} of '${target}', which is for ${[...row.values, ...(row.types ?? []).map((name) => `${name} (types)`)].join(', ')}: ` +
        'call what these export instead; if the import is right, add it to the table of packages in this test')
    }
  }
  const used = new Set(imports.map(({ target }) => target))
  t.same(Object.keys(packages).filter((name) => !used.has(name)), [], 'a package that nothing imports any more leaves the table, and the dependencies')
})

test('every package that the code imports is installed with it, and no other', async (t) => {
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(read('package.json'))
  const imported = [...new Set(imports.filter(({ isOwn, target }) => !isOwn && !target.startsWith('node:')).map(({ target }) => target))].sort()
  t.same(imported.filter((name) => !(name in dependencies) && !(name in peerDependencies)), [], 'add it to the dependencies of package.json')
  t.same(Object.keys(dependencies).filter((name) => !imported.includes(name)), [], 'take it out of the dependencies of package.json')
  t.same(Object.keys(peerDependencies).filter((name) => !imported.includes(name)), [], 'take it out of the peer dependencies of package.json')
})

test('SQL is made of names of models and of parameters, one cast widens the handle of the database, and nothing is any', async (t) => {
  const holding = (text: string): string[] => files.filter((path) => read(path).includes(text))
  t.same(holding('sql.raw('), ['lib/query/list-sql.ts', 'lib/tables/table.ts', 'lib/vocabulary/operators.ts'], 'sql.raw is for constants: use sql.ref for names and parameters for values')
  t.same(holding('as unknown as'), ['lib/query/engine.ts'], 'check a value instead of casting it')
  const unchecked = files.filter((path) => hasAny(parse(path)) || /@ts-ignore|@ts-expect-error/.test(read(path)))
  t.same(unchecked, [], 'write unknown instead of any, and check the value')
})
