// @once: checked by the compiler

import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ColumnType, Generated, Kysely } from 'kysely'
import { test } from 'tap'
import type * as client from '../../lib/client.js'
import type * as plugin from '../../lib/index.js'
import type * as mariadb from '../../lib/mariadb.js'
import type * as postgres from '../../lib/postgres.js'
import type * as sqlite from '../../lib/sqlite.js'
import {
  adminAuth, bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, number, password, text,
  userAuth, uuid, type AnyKysely, type Authenticate, type CommonOptions, type CreateOf, type Credentials,
  type DatabaseOf, type DecimalOptions, type Field, type FieldFault, type ForeignKeyField, type ForeignKeyOptions,
  type Json, type Limits, type Model, type Operation, type PasswordOptions, type Policy, type PolicySetting,
  type PolicyUser, type RangeOptions, type RecordOf, type ResourceOptions, type ResourceRegistry,
  type RestModelsOptions, type TextOptions, type UpdateOf, type UserAuthOptions, type Verify
} from '../../lib/index.js'
import { buildApp, Message, siteModels, User } from '../support/site.js'

// The compiler is what these checks are for: `npm run typecheck`, a part of `npm test`, fails if one of them does
// not hold.

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Compiles if both types are exactly the same: an optional, a readonly or an `any` counts. */
function same<A, B> (
  ..._proof: Equal<A, B> extends true ? [] : [difference: { readonly left: A, readonly right: B }]
): void {}

const Everything = defineModel('Everything', {
  text: text(),
  integer: integer(),
  bigint: bigint(),
  number: number(),
  decimal: decimal(),
  boolean: boolean(),
  datetime: datetime(),
  date: date(),
  json: json(),
  uuid: uuid(),
  password: password(),
  user: foreignKey(() => User)
})
const Nullable = defineModel('Nullable', {
  text: text({ nullable: true }),
  integer: integer({ nullable: true }),
  bigint: bigint({ nullable: true }),
  number: number({ nullable: true }),
  decimal: decimal({ nullable: true }),
  boolean: boolean({ nullable: true }),
  datetime: datetime({ nullable: true }),
  date: date({ nullable: true }),
  json: json({ nullable: true }),
  uuid: uuid({ nullable: true }),
  password: password({ nullable: true }),
  user: foreignKey(() => User, { nullable: true, onDelete: 'set null' })
})
const Special = defineModel('Special', {
  status: text({ enum: ['draft', 'final'], default: 'draft' }),
  rating: text({ enum: ['low', 'high'], nullable: true }),
  title: text({ minLength: 1, column: 'headline' }),
  count: integer({ default: 0, column: 'n' }),
  made: datetime({ default: 'now' }),
  token: uuid({ default: () => crypto.randomUUID() }),
  closed: boolean({ nullable: false }),
  empty: text({ nullable: true, default: null }),
  author: foreignKey(() => User, { column: 'written_by' }),
  big: bigint({ default: '0' })
}, { table: 'specials' })
/** As the documentation of `foreignKey` says for a model that refers to itself. */
const Employee = defineModel('Employee', { name: text(), boss: foreignKey((): Model => Employee, { nullable: true }) })

test('a record has every field under its key, with the type of its kind', async (t) => {
  same<RecordOf<typeof Everything>, {
    id: number
    text: string
    integer: number
    bigint: string
    number: number
    decimal: string
    boolean: boolean
    datetime: string
    date: string
    json: Json
    uuid: string
    password: string
    user_id: number
  }>()
  // @ts-expect-error `id` is missing on one side: the check above would fail as this one does
  same<RecordOf<typeof Employee>, { name: string, boss_id: number | null }>()
  // @ts-expect-error an optional key is not the same as one that is there
  same<RecordOf<typeof Employee>, { id: number, name: string, boss_id?: number | null }>()
  // @ts-expect-error `any` is not the same as what a key holds
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  same<RecordOf<typeof Employee>, { id: number, name: any, boss_id: number | null }>()
  same<RecordOf<typeof Employee>, { id: number, name: string, boss_id: number | null }>()
  t.same(Everything.columns.map(({ key }) => key), [
    'id', 'text', 'integer', 'bigint', 'number', 'decimal', 'boolean', 'datetime', 'date', 'json', 'uuid', 'password',
    'user_id'])
})

test('fields that are unique together are named as they are declared', (t) => {
  const Together = defineModel('Together', { id: uuid(), name: text(), user: foreignKey(() => User) }, {
    table: 'pairs', unique: [['user', 'name']]
  })
  same<RecordOf<typeof Together>, { id: string, name: string, user_id: number }>()
  same<typeof Together.table, 'pairs'>()
  const models: readonly Model[] = [Together]
  t.equal(models.length, 1)
  t.throws(() => {
    // @ts-expect-error the primary key is unique without other fields
    defineModel('Together', { id: uuid(), name: text() }, { unique: [['id', 'name']] })
  })
  t.throws(() => {
    // @ts-expect-error the key of a foreign key is not its name
    defineModel('Together', { name: text(), user: foreignKey(() => User) }, { unique: [['user_id', 'name']] })
  })
  t.end()
})

test('a field that may be null is so in records, and may be left out of a create', async (t) => {
  same<RecordOf<typeof Nullable>, {
    id: number
    text: string | null
    integer: number | null
    bigint: string | null
    number: number | null
    decimal: string | null
    boolean: boolean | null
    datetime: string | null
    date: string | null
    json: Json
    uuid: string | null
    password: string | null
    user_id: number | null
  }>()
  same<CreateOf<typeof Nullable>, Partial<Omit<RecordOf<typeof Nullable>, 'id'>>>()
  same<UpdateOf<typeof Nullable>, CreateOf<typeof Nullable>>()
  t.ok(Nullable.columns.slice(1).every(({ nullable }) => nullable))
})

test('a create has no id; what has a default may be left out', async (t) => {
  same<CreateOf<typeof Everything>, Omit<RecordOf<typeof Everything>, 'id'>>()
  same<CreateOf<typeof Special>, {
    title: string
    closed: boolean
    author_id: number
    status?: 'draft' | 'final'
    rating?: 'low' | 'high' | null
    count?: number
    made?: string
    token?: string
    empty?: string | null
    big?: string
  }>()
  same<CreateOf<typeof Message>, { user_id: number, content: string, pub_date?: string }>()
  // @ts-expect-error `pub_date` has a default, so it is not required
  same<CreateOf<typeof Message>, { user_id: number, content: string, pub_date: string }>()
  t.pass('checked by the compiler')
})

test('the id of a model is a text if it is a UUID, and so are the foreign keys that refer to it', async (t) => {
  const Box = defineModel('Box', { id: uuid(), name: text() })
  const Item = defineModel('Item', {
    box: foreignKey(() => Box), spare: foreignKey(() => Box, { nullable: true }), user: foreignKey(() => User)
  })
  const Folder = defineModel('Folder', {
    id: uuid(), parent: foreignKey((): Model<'Folder', { id: Field<'uuid'> }> => Folder, { nullable: true })
  })
  same<RecordOf<typeof Box>, { id: string, name: string }>()
  same<CreateOf<typeof Box>, { name: string }>()
  same<UpdateOf<typeof Box>, { name?: string }>()
  same<RecordOf<typeof Item>, { id: number, box_id: string, spare_id: string | null, user_id: number }>()
  same<RecordOf<typeof Folder>, { id: string, parent_id: string | null }>()
  same<DatabaseOf<[typeof Box]>['box'], { id: string, name: string }>()
  // @ts-expect-error the id of a UUID is no number
  same<RecordOf<typeof Box>['id'], number>()
  t.same(Item.columns.map(({ key }) => key) satisfies string[], [
    'id', 'box_id', 'spare_id', 'user_id'
  ] satisfies Array<keyof RecordOf<typeof Item>>)
  t.same(Folder.columns.map(({ key, kind }) => [key, kind]), [['id', 'uuid'], ['parent_id', 'foreignKey']])
})

test('what a driver gives depends on the engine', async (t) => {
  const Kinds = defineModel('Kinds', {
    flag: boolean({ default: true }), price: decimal(), data: json(), moment: datetime(), big: bigint()
  })
  type On<Engine extends 'sqlite' | 'postgres' | 'mariadb'> = DatabaseOf<[typeof Kinds], Engine>['kinds']
  same<DatabaseOf<[typeof Kinds]>['kinds'], On<'sqlite'>>()
  same<On<'sqlite'>['flag'], ColumnType<number, number | undefined, number>>()
  same<On<'postgres'>['flag'], ColumnType<boolean, boolean | undefined, boolean>>()
  same<On<'mariadb'>['flag'], ColumnType<number, number | undefined, number>>()
  same<[On<'sqlite'>['price'], On<'postgres'>['price'], On<'mariadb'>['price']], [number, string, string]>()
  same<[On<'sqlite'>['data'], On<'postgres'>['data'], On<'mariadb'>['data']], [
    string, ColumnType<unknown, string, string>, string
  ]>()
  same<[On<'postgres'>['moment'], On<'mariadb'>['moment']], [string, string]>()
  same<On<'mariadb'>['big'], ColumnType<number | string, number | bigint | string, number | bigint | string>>()
  t.same(Kinds.columns.map(({ name }) => name), [
    'id', 'flag', 'price', 'data', 'moment', 'big'
  ] satisfies Array<keyof On<'postgres'>>)
})

test('docs/hooks.md: the decimal of a record is added to a column, on SQLite as a number', async (t) => {
  const Bill = defineModel('Bill', { total: decimal() })
  const add = (db: Kysely<{}>, { total }: RecordOf<typeof Bill>): unknown[] => [
    db.withTables<DatabaseOf<[typeof Bill]>>().updateTable('bill')
      .set(({ eb, fn, lit }) => ({ total: fn('round', [eb('total', '+', Number(total)), lit(2)]) })),
    db.withTables<DatabaseOf<[typeof Bill]>>().updateTable('bill')
      // @ts-expect-error a text
      .set(({ eb, fn, lit }) => ({ total: fn('round', [eb('total', '+', total), lit(2)]) })),
    db.withTables<DatabaseOf<[typeof Bill], 'postgres'>>().updateTable('bill')
      .set(({ eb, fn, lit }) => ({ total: fn('round', [eb('total', '+', total), lit(2)]) })),
    db.withTables<DatabaseOf<[typeof Bill], 'mariadb'>>().updateTable('bill')
      .set(({ eb, fn, lit }) => ({ total: fn('round', [eb('total', '+', total), lit(2)]) }))
  ]
  t.type(add, 'function')
  t.equal(Bill.table, 'bill')
})

test('every field of an update may be left out, and none is added', async (t) => {
  same<UpdateOf<typeof Message>, { user_id?: number, content?: string, pub_date?: string }>()
  same<UpdateOf<typeof Special>, Partial<Omit<RecordOf<typeof Special>, 'id'>>>()
  // @ts-expect-error a create of the same model has required fields
  same<UpdateOf<typeof Message>, CreateOf<typeof Message>>()
  t.pass('checked by the compiler')
})

test('the choices of an enum are literal types', async (t) => {
  same<RecordOf<typeof Special>['status'], 'draft' | 'final'>()
  same<RecordOf<typeof Special>['rating'], 'low' | 'high' | null>()
  // @ts-expect-error a text that is no choice
  const wrong: CreateOf<typeof Special> = { status: 'other', title: '', closed: false, author_id: 1 }
  const right: CreateOf<typeof Special> = { status: 'final', title: '', closed: false, author_id: 1 }
  t.not(wrong.status, right.status)
})

test('the tables for Kysely have the names of columns, and what SQLite holds', async (t) => {
  type Big = ColumnType<number, number | bigint, number | bigint>
  same<DatabaseOf<[typeof Everything, typeof Special, typeof Employee]>, {
    everything: {
      id: Generated<number>
      text: string
      integer: number
      bigint: Big
      number: number
      decimal: number
      boolean: number
      datetime: string
      date: string
      json: string
      uuid: string
      password: string
      user_id: number
    }
    specials: {
      id: Generated<number>
      status: Generated<'draft' | 'final'>
      rating: 'low' | 'high' | null
      headline: string
      n: Generated<number>
      made: Generated<string>
      token: string
      closed: number
      empty: string | null
      written_by: number
      big: ColumnType<number, number | bigint | undefined, number | bigint>
    }
    employee: { id: Generated<number>, name: string, boss_id: number | null }
  }>()
  // @ts-expect-error the table is named by the option `table`, not by the model
  same<keyof DatabaseOf<[typeof Special]>, 'special'>()
  same<keyof DatabaseOf<[typeof Special]>, 'specials'>()
  t.equal(Special.table, 'specials' satisfies keyof DatabaseOf<[typeof Special]>)
  t.same(Special.columns.map(({ name }) => name), [
    'id', 'status', 'rating', 'headline', 'n', 'made', 'token', 'closed', 'empty', 'written_by', 'big'] satisfies Array<
      keyof DatabaseOf<[typeof Special]>['specials']
    >)
})

test('names in options are those of the model, for the compiler and again when the program runs', async (t) => {
  await buildApp(t, {
    models: siteModels,
    register: (registry) => {
      // @ts-expect-error `e_mail` is not a field of the model
      t.throws(() => registry.register(User, { exclude: ['e_mail'] }), { code: 'REST_MODELS_UNKNOWN_OPTION_FIELD' })
      // @ts-expect-error `user_id` is a key, options name fields as they are declared
      t.throws(() => registry.register(Message, { exclude: ['user_id'] }), { code: 'REST_MODELS_UNKNOWN_OPTION_FIELD' })
      // @ts-expect-error `pub` is not a field of the model
      t.throws(() => registry.register(Message, { readOnly: ['pub'] }), { code: 'REST_MODELS_UNKNOWN_OPTION_FIELD' })
      // @ts-expect-error `content` is a field, but not a foreign key
      t.throws(() => registry.register(Message, { ownerField: 'content', auth: userAuth(User) }), {
        code: 'REST_MODELS_INVALID_OPTIONS'
      })
      // @ts-expect-error `username` is a field of another model
      t.throws(() => registry.register(Message, { ownerField: 'username', auth: userAuth(User) }), {
        code: 'REST_MODELS_UNKNOWN_OPTION_FIELD'
      })
      // @ts-expect-error an option that does not exist
      t.throws(() => registry.register(Message, { excludes: ['content'] }), { code: 'REST_MODELS_INVALID_OPTIONS' })
      // @ts-expect-error `login` is not a field of the users' model
      t.throws(() => userAuth(User, { username: 'login' }), { code: 'REST_MODELS_UNKNOWN_OPTION_FIELD' })
      // @ts-expect-error only `writes` and `all`
      t.throws(() => adminAuth(User, { protect: 'reads' }), { code: 'REST_MODELS_INVALID_OPTIONS' })

      registry.register(User, {
        exclude: ['email', 'password'], auth: adminAuth(User, { username: 'username', protect: 'all' })
      })
      registry.register(Message, {
        ownerField: 'user', exclude: ['content'], readOnly: ['pub_date'], auth: userAuth(User, { username: 'username' })
      })
    }
  })
  same<ResourceOptions<typeof Message>['ownerField'], 'user' | undefined>()
  same<ResourceOptions<typeof Message>['exclude'], ReadonlyArray<'user' | 'content' | 'pub_date'> | undefined>()
})

test('options of a field are those of its kind, for the compiler and again when the program runs', async (t) => {
  const refused = (define: () => unknown): void => { t.throws(define, { code: 'REST_MODELS_INVALID_MODEL' }) }
  // @ts-expect-error an integer has no length
  refused(() => defineModel('A', { n: integer({ maxLength: 3 }) }))
  // @ts-expect-error a boolean has no minimum
  refused(() => defineModel('A', { b: boolean({ minimum: 0 }) }))
  // @ts-expect-error only text has choices
  refused(() => defineModel('A', { n: integer({ enum: ['1'] }) }))
  // @ts-expect-error only foreign keys are deleted along
  refused(() => defineModel('A', { s: text({ onDelete: 'cascade' }) }))
  t.doesNotThrow(() => defineModel('A', {
    n: integer({ maximum: 3 }),
    s: text({ maxLength: 3, enum: ['a'] }),
    u: foreignKey(() => User, { onDelete: 'cascade' })
  }))
  // @ts-expect-error the default of an integer is a number
  const wrong = integer({ default: '1' })
  const right = integer({ default: 1 })
  t.not(wrong.options.default, right.options.default)
})

type IsAny<T> = 0 extends 1 & T ? true : false
/** Types of other packages, which are theirs to get right, and what cannot hold an `any`. */
type Leaf = Date | AbortSignal | string | number | bigint | boolean | symbol | null | undefined | FastifyInstance |
  FastifyRequest | FastifyReply | AnyKysely
/** Whether a type is that of the option `config`, which other packages add to. */
type IsConfig<T> = [keyof T, keyof FastifyContextConfig] extends [keyof FastifyContextConfig, keyof T] ? true : false
/** Paths to every `any` in a type: through properties, items, parameters and results. */
type AnyPaths<T, Path extends string, Depth extends readonly unknown[] = [1, 1, 1, 1, 1, 1, 1]> =
  IsAny<T> extends true ? Path
    : Depth extends readonly [unknown, ...infer Rest]
      ? T extends Leaf ? never
        : IsConfig<T> extends true ? never
          : T extends ReadonlyMap<infer K, infer V> ? AnyPaths<K | V, `${Path}[]`, Rest>
            : T extends ReadonlySet<infer Item> ? AnyPaths<Item, `${Path}[]`, Rest>
              : T extends Promise<infer Result> ? AnyPaths<Result, Path, Rest>
                : T extends ReadonlyArray<infer Item> ? AnyPaths<Item, `${Path}[]`, Rest>
                  : T extends (...parameters: infer Parameters) => infer Result
                    ? { [P in keyof Parameters]-?: AnyPaths<Parameters[P], `${Path}(${P & string})`, Rest> }[number] |
                      AnyPaths<Result, `${Path} =>`, Rest>
                    : T extends object
                      ? { [P in keyof T]-?: AnyPaths<T[P], `${Path}.${P & string}`, Rest> }[keyof T]
                      : never
      : never

/** The exported types; generic ones for a model. */
interface PublicTypes {
  AnyKysely: keyof AnyKysely
  Authenticate: Authenticate
  Client: client.Client<[typeof Everything, { model: typeof User, exclude: ['email'] }]>
  ClientOptions: client.ClientOptions
  CommonOptions: CommonOptions<string>
  CreateOf: CreateOf<typeof Everything>
  Credentials: Credentials
  DatabaseOf: keyof DatabaseOf<[typeof Everything]>['everything']
  DecimalOptions: DecimalOptions
  Field: Field
  FieldFault: FieldFault
  ForeignKeyField: ForeignKeyField
  ForeignKeyOptions: ForeignKeyOptions
  Json: Json
  Limits: Limits
  Model: Model
  ModelOf: typeof Everything
  Operation: Operation
  PasswordOptions: PasswordOptions
  Policy: Policy
  PolicySetting: PolicySetting
  PolicyUser: PolicyUser
  RangeOptions: RangeOptions
  RecordOf: RecordOf<typeof Everything>
  ResourceOptions: ResourceOptions<typeof Everything>
  ResourceRegistry: ResourceRegistry
  RestModelsOptions: RestModelsOptions
  ListQuery: client.ListQuery<typeof Everything>
  MariadbOptions: mariadb.MariadbOptions
  PostgresOptions: postgres.PostgresOptions
  SqliteOptions: sqlite.SqliteOptions
  TextOptions: TextOptions
  RestModelsError: client.RestModelsError
  UpdateOf: UpdateOf<typeof Everything>
  UserAuthOptions: UserAuthOptions
  Verify: Verify
}

test('no part of what is exported is any', async (t) => {
  same<AnyPaths<Omit<typeof plugin, 'default' | 'errors'>, 'plugin'>, never>()
  same<AnyPaths<Parameters<typeof plugin.default>, 'default'>, never>()
  same<
    AnyPaths<{ [Name in keyof typeof plugin.errors]: ConstructorParameters<(typeof plugin.errors)[Name]> }, 'errors'>,
    never
  >()
  same<AnyPaths<typeof sqlite, 'sqlite'>, never>()
  same<AnyPaths<typeof postgres, 'postgres'>, never>()
  same<AnyPaths<typeof mariadb.openMariadb, 'mariadb'>, never>()
  same<AnyPaths<PublicTypes, 'types'>, never>()
  // The same search finds an `any` at every sort of place.
  /* eslint-disable @typescript-eslint/no-explicit-any */
  same<AnyPaths<{ a: (b: { c: any }) => void }, 'x'>, 'x.a(0).c'>()
  same<AnyPaths<() => Promise<Map<string, any>>, 'x'>, 'x =>[]'>()
  same<AnyPaths<{ a?: Array<{ b: any }> }, 'x'>, 'x.a[].b'>()
  /* eslint-enable */
  t.pass('checked by the compiler')
})
