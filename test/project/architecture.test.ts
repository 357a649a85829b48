// @once: reads the sources

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import ts from 'typescript'

/**
 * What each room may import, from the innermost outwards; a name with `type` in front may be imported for its types
 * alone. A room is a folder of lib with its files, the folder schemas, or one of the files that lie directly in lib.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  events: [],
  values: [],
  engines: ['values', 'events', 'errors'],
  fields: ['type engines', 'values'],
  suggest: ['errors'],
  model: ['suggest', 'fields', 'engines', 'values', 'errors'],
  client: ['type model', 'type fields', 'type errors'],
  providers: ['client'],
  'react-admin': ['providers', 'client'],
  refine: ['providers', 'client'],
  request: ['errors'],
  plan: ['request', 'model', 'suggest', 'fields', 'type engines', 'values', 'errors'],
  sql: ['plan', 'model', 'fields', 'engines', 'values', 'type events'],
  'engines/server': ['suggest', 'engines', 'events', 'errors'],
  'engines/mariadb': ['engines/server', 'engines', 'values', 'type events'],
  'engines/postgres': ['engines/server', 'suggest', 'engines', 'type values', 'type events', 'errors'],
  'engines/sqlite': ['engines', 'values', 'events', 'errors'],
  database: [
    'engines/sqlite', 'engines/postgres', 'engines/mariadb', 'sql', 'type plan', 'model', 'engines', 'values',
    'events', 'errors'
  ],
  policy: ['database', 'plan', 'model', 'suggest', 'fields', 'type engines', 'values', 'events', 'errors'],
  schemas: ['model', 'fields', 'type engines', 'values', 'type errors'],
  response: ['type request', 'plan', 'model', 'type engines', 'type values', 'errors'],
  resource: [
    'response', 'schemas', 'policy', 'type database', 'sql', 'plan', 'model', 'suggest', 'type engines', 'values',
    'errors'
  ],
  openapi: ['type resource', 'schemas', 'policy', 'plan', 'request', 'model', 'type fields', 'values', 'errors'],
  'plugin/scheduling': ['policy', 'engines', 'events', 'errors', 'values'],
  routes: [
    'type plugin/scheduling', 'openapi', 'type resource', 'response', 'schemas', 'policy', 'database', 'plan',
    'request', 'type model', 'type engines', 'values', 'errors'
  ],
  tables: ['schemas', 'database', 'plan', 'model', 'engines', 'errors', 'type values'],
  plugin: [
    'tables', 'routes', 'plugin/scheduling', 'resource', 'response', 'schemas', 'policy', 'database', 'plan',
    'request', 'model', 'suggest', 'events', 'errors'
  ],
  index: [
    'plugin', 'tables', 'type resource', 'policy', 'type database', 'type plan', 'model', 'type values', 'type events',
    'errors'
  ],
  mariadb: ['engines/mariadb', 'engines/server', 'engines', 'events'],
  postgres: ['engines/postgres', 'engines/server', 'engines', 'events'],
  sqlite: ['engines/sqlite', 'suggest', 'engines', 'errors'],
  'tooling/audit': [
    'plugin', 'type resource', 'policy', 'sql', 'plan', 'request', 'model', 'fields', 'type engines', 'values',
    'errors'
  ],
  'tooling/introspect': [
    'tables', 'schemas', 'database', 'plan', 'model', 'suggest', 'fields', 'engines', 'values', 'errors'
  ],
  'tooling/migration': ['tooling/introspect', 'tables', 'database', 'suggest', 'type model', 'type engines'],
  'tooling/cli': [
    'tooling/introspect', 'tooling/migration', 'tooling/audit', 'index', 'sqlite', 'postgres', 'mariadb', 'tables',
    'policy', 'model', 'suggest', 'engines', 'values', 'errors'
  ],
  tools: ['tooling/cli', 'tooling/introspect', 'tooling/audit', 'tooling/migration']
}

/** Who may import which package, by room or by file; `types` lists those that may import its types alone. */
const packages: Readonly<Record<string, { readonly values: readonly string[], readonly types?: readonly string[] }>> = {
  '@fastify/swagger': { values: ['tooling/cli/documentation'] },
  '@fastify/swagger-ui': { values: ['tooling/cli/documentation'] },
  'cli-table3': { values: ['tooling/cli/text-table'] },
  commander: { values: ['tooling/cli/run'] },
  fastify: {
    values: ['tooling/cli/serve-database', 'tooling/cli/load-app'],
    types: [
      'tooling/cli', 'policy', 'response/failure', 'resource', 'routes', 'plugin/scheduling', 'plugin', 'index'
    ]
  },
  kysely: {
    values: [
      'fields/operators', 'engines', 'engines/sqlite', 'engines/postgres', 'engines/mariadb', 'sql', 'database',
      'tables', 'tooling/migration', 'tooling/introspect', 'tooling/audit/explain', 'tooling/audit/table-sizes',
      'sqlite', 'postgres', 'mariadb'
    ],
    types: ['model/types', 'tooling/cli']
  },
  'ra-core': { values: [], types: ['react-admin'] },
  '@refinedev/core': { values: [], types: ['refine', 'providers/refine-filters'] },
  '@sinclair/typebox': { values: ['schemas', 'fields'], types: ['resource'] },
  '@fastify/basic-auth': { values: ['policy/user-auth'] },
  '@fastify/busboy': { values: ['request/multipart'] },
  '@fastify/error': { values: ['errors'] },
  '@node-rs/argon2': { values: ['policy/passwords', 'policy/stored-hashes'] },
  ajv: { values: ['schemas/check'], types: ['schemas/formats', 'schemas/messages'] },
  'ajv-formats': { values: ['schemas/formats', 'model/check-options'], types: ['schemas/messages'] },
  'better-sqlite3': { values: ['sqlite'], types: ['engines/sqlite'] },
  'fast-json-stringify': { values: ['response/serializer'] },
  'fastest-levenshtein': { values: ['suggest'] },
  'fastify-plugin': { values: ['index'] },
  pg: { values: ['engines/postgres'] },
  mysql2: { values: ['engines/mariadb'] },
  'p-retry': { values: ['engines/retry', 'tables/schema-change'] },
  uuid: { values: ['plan/plan-write'] },
  'lru-cache': {
    values: [
      'policy/passwords', 'sql/shapes', 'resource/included-records', 'engines/server', 'engines/sqlite/connection'
    ]
  },
  'p-limit': { values: ['policy/passwords'] },
  'secure-json-parse': { values: ['request/payload'] }
}

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Import {
  /** Path from the root, without the extension. */
  readonly file: string
  /** Likewise for a file of our own; the name of a package or of a module of Node otherwise. */
  readonly target: string
  readonly isOwn: boolean
  readonly isType: boolean
}

function sourceFiles (folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
}

const files = ['lib', 'schemas'].flatMap(sourceFiles).sort()

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const parse = (path: string): ts.SourceFile => ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true)

function hasAny (node: ts.Node): boolean {
  return node.kind === ts.SyntaxKind.AnyKeyword || ts.forEachChild(node, (child) => hasAny(child) || undefined) === true
}

/** Counts the casts in a syntax tree; `as const` is none. */
function castsIn (node: ts.Node): number {
  const isCast = ts.isAsExpression(node) && node.type.getText() !== 'const'
  let count = isCast || ts.isNonNullExpression(node) ? 1 : 0
  ts.forEachChild(node, (child) => { count += castsIn(child) })
  return count
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
    if (ts.isImportDeclaration(node)) {
      add(
        node.moduleSpecifier,
        isTypeOnly(node.importClause?.phaseModifier, node.importClause?.name, node.importClause?.namedBindings)
      )
    }
    if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly || isTypeOnly(undefined, undefined, node.exportClause))
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], false)
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true)
    ts.forEachChild(node, visit)
  }
  visit(parse(path))
  return found
}

function isTypeOnly (
  phase: ts.SyntaxKind | undefined, name: ts.Identifier | undefined,
  bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined
): boolean {
  if (phase === ts.SyntaxKind.TypeKeyword) return true
  if (name !== undefined || bindings === undefined || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) {
    return false
  }
  return bindings.elements.every(({ isTypeOnly }) => isTypeOnly)
}

function packageOf (specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

/**
 * `lib/plan/path` is of room `plan`, `lib/engines/sqlite/file` of `engines/sqlite`, `schemas/key` of `schemas`;
 * `lib/index` is a room of its own.
 */
function roomOf (file: string): string {
  const [folder = '', ...path] = file.split('/')
  return folder === 'lib' ? path.slice(0, -1).join('/') || path.join() : folder
}

/** A file as the table of packages names it. */
const shortName = (file: string): string => file.replace(/^lib\//, '')
const isListed = (names: readonly string[] | undefined, file: string): boolean =>
  names?.some((name) => name === roomOf(file) || name === shortName(file)) === true

const imports = files.flatMap(importsOf)

/** Words that the code once had of its own. The field has standard terms for what they meant. */
const ownWords = /\b(?:Soon|insist|unless|Crowd|Turns|DirectRoad|waysAfter|wholeness)\b/

test('the words that the code once had of its own are gone', async (t) => {
  t.same(files.filter((path) => path.startsWith('lib/') && ownWords.test(read(path))), [])
})

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
      'Move what it needs to a room that both may import, or let the caller pass it in; if the edge is right, ' +
      'add it to the table of rooms in this test')
  }
  t.same(
    imports.filter(({ isOwn, target }) => isOwn && !existsSync(join(root, `${target}.ts`))), [],
    'every import names a file'
  )
})

test('the table of rooms names every room once, and only rooms that stand before', async (t) => {
  const names = Object.keys(rooms)
  const missing =
    [...new Set(files.map((file) => roomOf(file.replace(/\.ts$/, ''))))].filter((room) => !names.includes(room))
  t.same(
    missing, [],
    'a new room has to be given its place: add it to the table of rooms in this test, after all that it imports'
  )
  for (const [index, [name, allowed]] of Object.entries(rooms).entries()) {
    const behind = allowed.map((other) => other.replace(/^type /, ''))
      .filter((other) => !names.slice(0, index).includes(other))
    t.same(behind, [], `'${name}' may not point to what stands behind it`)
  }
})

test('the tables permit no import that nothing makes', async (t) => {
  const made = (room: string, permitted: string): boolean => imports.some(({ file, target, isOwn, isType }) =>
    isOwn && roomOf(file) === room && [roomOf(target), isType && `type ${roomOf(target)}`].includes(permitted))
  const edges = Object.entries(rooms).flatMap(([room, allowed]) =>
    allowed.filter((permitted) => !made(room, permitted)).map((permitted) => `${room} -> ${permitted}`))
  t.same(edges, [], 'take them out of the table of rooms')
  const importers = Object.entries(packages).flatMap(([name, { values, types = [] }]) => [...values, ...types]
    .filter((importer) => !imports.some(({ file, target }) => target === name && isListed([importer], file)))
    .map((importer) => `${importer} -> ${name}`))
  t.same(importers, [], 'take them out of the table of packages')
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
      t.fail(`'${file}' imports the package '${target}', which is new: if it is really needed, ` +
        'add it to the dependencies and to the table of packages in this test')
    } else if (!isListed(row.values, file) && !(isType && isListed(row.types, file))) {
      t.fail(`'${file}' imports ${isType ? 'types' : 'values'} of '${target}', ` +
        `which is for ${[...row.values, ...(row.types ?? []).map((name) => `${name} (types)`)].join(', ')}: ` +
        'call what these export instead; if the import is right, add it to the table of packages in this test')
    }
  }
  const used = new Set(imports.map(({ target }) => target))
  t.same(
    Object.keys(packages).filter((name) => !used.has(name)), [],
    'a package that nothing imports any more leaves the table, and the dependencies'
  )
})

test('every package that the code imports is installed with it, and no other', async (t) => {
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(read('package.json'))
  const imported = [
    ...new Set(imports.filter(({ isOwn, target }) => !isOwn && !target.startsWith('node:')).map(({ target }) => target))
  ].sort()
  t.same(
    imported.filter((name) => !(name in dependencies) && !(name in peerDependencies)), [],
    'add it to the dependencies of package.json'
  )
  t.same(
    Object.keys(dependencies).filter((name) => !imported.includes(name)), [],
    'take it out of the dependencies of package.json'
  )
  t.same(
    Object.keys(peerDependencies).filter((name) => !imported.includes(name)), [],
    'take it out of the peer dependencies of package.json'
  )
})

test('SQL consists of names of models and parameters, one cast widens the handle, and nothing is any', async (t) => {
  const holding = (text: string): string[] => files.filter((path) => read(path).includes(text))
  t.same(
    holding('sql.raw('), [
      'lib/engines/postgres/texts.ts', 'lib/engines/sqlite/deadline.ts',
      'lib/fields/operators.ts',
      'lib/tables/alter-table.ts', 'lib/tables/table.ts'
    ],
    'sql.raw is for constants: use sql.ref for names and parameters for values'
  )
  t.same(holding('as unknown as'), ['lib/database/engine.ts'], 'check a value instead of casting it')
  const unchecked = files.filter((path) => hasAny(parse(path)) || /@ts-ignore|@ts-expect-error/.test(read(path)))
  t.same(unchecked, [], 'write unknown instead of any, and check the value')
})

test('casts are few, because the compiler believes each of them', async (t) => {
  const count = files.reduce((sum, path) => sum + castsIn(parse(path)), 0)
  t.ok(count > 0 && count <= 80, `${count} casts: check a value, or give a function a type that fits`)
})
