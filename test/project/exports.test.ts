// @once: reads the names of the exports

import { existsSync, readFileSync } from 'node:fs'
import { test } from 'tap'
import restModels from '../../lib/index.js'

// A name that is added here is one that has to be kept: see "Versions" in the changelog.
const values = {
  'lib/index.ts': [
    'adminAuth', 'bigint', 'boolean', 'createTables', 'date', 'datetime', 'decimal', 'default', 'defineModel', 'errors',
    'foreignKey', 'hashPassword', 'hostAuth', 'integer', 'invalidRecord', 'json', 'key', 'number', 'openAuth',
    'password', 'readOnlyAuth', 'text', 'userAuth', 'userOf', 'uuid'
  ],
  'lib/client.ts': ['RestModelsError', 'createClient', 'etagOf'],
  'lib/react-admin.ts': ['createDataProvider'],
  'lib/refine.ts': ['createDataProvider'],
  'lib/sqlite.ts': ['openSqlite'],
  'lib/postgres.ts': ['openPostgres'],
  'lib/mariadb.ts': ['MariadbDialect', 'openMariadb'],
  'lib/tools.ts': ['describeNote', 'describeNotes', 'inspect', 'introspect', 'loadApp', 'openDatabase', 'serveDatabase',
    'writeMigration']
}
const types = {
  'lib/index.ts': [
    'AnyKysely', 'Authenticate', 'ClosedPolicy', 'CommonOptions', 'CreateOf', 'Credentials', 'DatabaseOf',
    'DatetimeOptions', 'DecimalOptions', 'DiagnosticsMessages', 'Field', 'FieldFault', 'FieldOptions',
    'FindHostUser', 'FinishedWrite', 'Flat', 'ForeignKeyField', 'ForeignKeyOptions', 'GroupCommitMessage', 'GuardHook',
    'Health', 'HostAuthOptions', 'Identity', 'Json', 'KeyOptions', 'Limits', 'LoginMessage', 'Model', 'NodeMessage',
    'Operation', 'PasswordOptions', 'PlannedWrite', 'Policy', 'PolicySetting', 'PolicyUser', 'QueueMessage',
    'RangeOptions', 'RecordOf', 'ResourceOptions', 'ResourceRegistry', 'RestModelsOptions', 'RetryMessage',
    'ScopeOf', 'SecurityScheme', 'StatementLabel', 'StatementMessage', 'StatementOperation', 'TextOptions',
    'UpdateOf', 'UserAuthOptions', 'UserOf', 'UuidOptions', 'Verify', 'WholeRecord', 'WriteHooks'
  ],
  'lib/client.ts': [
    'ByModel', 'CallOptions', 'Client', 'ClientOptions', 'ConditionalOptions', 'Described', 'ErrorCode', 'Fetch',
    'FetchAnswer', 'FetchInit', 'Field', 'FieldFault', 'ForeignKeyField', 'List', 'ListQuery', 'Model', 'Page',
    'PageMeta', 'ResourceClient', 'ResourceCreate', 'ResourceDefinition', 'ResourceRecord', 'ResourceUpdate', 'Total',
    'UnknownOptionFields', 'WriteOptions'
  ],
  'lib/react-admin.ts': ['AnyClient', 'DataProviderOptions'],
  'lib/refine.ts': ['AnyClient', 'DataProviderOptions', 'RefineOptions'],
  'lib/sqlite.ts': ['SqliteOptions', 'Tables'],
  'lib/postgres.ts': ['PostgresOptions', 'Tables'],
  'lib/mariadb.ts': ['MariadbOptions', 'Tables'],
  'lib/tools.ts': [
    'Audience', 'Changer', 'Danger', 'FieldPermissions', 'Inspection', 'IntrospectOptions', 'Introspection',
    'MigrationOptions', 'Note', 'OpenOptions', 'ResourcePermissions', 'ScopeOutcome', 'ServeCredentials',
    'ServeOptions', 'ServedDatabase', 'Unbounded', 'Unindexed', 'VisibleRecords', 'WrittenMigration'
  ]
}
const entryPoints = {
  '.': 'lib/index.ts',
  './client': 'lib/client.ts',
  './mariadb': 'lib/mariadb.ts',
  './postgres': 'lib/postgres.ts',
  './react-admin': 'lib/react-admin.ts',
  './refine': 'lib/refine.ts',
  './sqlite': 'lib/sqlite.ts',
  './tools': 'lib/tools.ts'
}

const source = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Names of types in the export lines of a file: re-exported ones, and those that it declares. */
function exportedTypes (text: string): string[] {
  const lists = [...text.matchAll(/^export (type )?\{([^}]+)\}/gm)].flatMap(([, isType, names = '']) =>
    names.split(',').map((name) => name.trim()).filter((name) => isType !== undefined || name.startsWith('type '))
      .map((name) => name.replace(/^type /, '')))
  const declared = [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = '']) => name)
  return [...lists, ...declared].sort()
}

test('the package exports these values and no others', async (t) => {
  // Not by `import * as`, which a bundler replaces by an object with a function for each name: no test calls those.
  const exported = {
    'lib/index.ts': await import('../../lib/index.js'),
    'lib/client.ts': await import('../../lib/client.js'),
    'lib/react-admin.ts': await import('../../lib/react-admin.js'),
    'lib/refine.ts': await import('../../lib/refine.js'),
    'lib/sqlite.ts': await import('../../lib/sqlite.js'),
    'lib/postgres.ts': await import('../../lib/postgres.js'),
    'lib/mariadb.ts': await import('../../lib/mariadb.js'),
    'lib/tools.ts': await import('../../lib/tools.js')
  }
  const names = Object.entries(exported).map(([path, module]) => [path, Object.keys(module).sort()])
  t.same(Object.fromEntries(names), values)
})

test('the package exports these types and no others', async (t) => {
  for (const [path, names] of Object.entries(types)) t.same(exportedTypes(source(path)), names, path)
})

test('nothing is exported by a star, which would export names unseen', async (t) => {
  for (const path of Object.values(entryPoints)) t.notMatch(source(path), /^export \*/m, path)
})

test('the package names its entry points, with code and types built from these files, and nothing else', async (t) => {
  const manifest = JSON.parse(source('package.json'))
  const { './package.json': self, ...entries } = manifest.exports
  t.equal(self, './package.json')
  t.same(Object.keys(entries).sort(), Object.keys(entryPoints))
  for (const [name, path] of Object.entries(entryPoints)) {
    const built = `./dist/${path.replace(/\.ts$/, '')}`
    t.same(entries[name], { types: `${built}.d.ts`, default: `${built}.js` }, name)
    t.equal(Object.keys(entries[name])[0], 'types', 'the first condition that fits is taken, so types stand first')
    t.ok(existsSync(new URL(`../../${path}`, import.meta.url)), path)
    t.ok(manifest.files.some((folder: string) => built.startsWith(`./${folder}/`)), `${built} is packed`)
  }
})

test('the plugin tells Fastify its name and the versions that it is for', async (t) => {
  const { name, fastify } =
    (restModels as unknown as Record<symbol, { name: string, fastify: string }>)[Symbol.for('plugin-meta')] ?? {}
  t.same([name, fastify], [JSON.parse(source('package.json')).name, '5.x'])
})
