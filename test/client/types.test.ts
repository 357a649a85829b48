// @once: about what the client sends, and the compiler; what servers answer to it is in client.test.ts

import { test } from 'tap'
import {
  createClient, type Described, type List, type ListQuery, type Page, type ResourceClient, type ResourceCreate,
  type ResourceRecord, type ResourceUpdate, type Total
} from '../../lib/client.js'
import {
  bigint, boolean, date, datetime, decimal, defineModel, foreignKey, integer, json, key, number, password, text, uuid,
  type CreateOf, type Field, type ForeignKeyField, type Model, type RecordOf, type UpdateOf
} from '../../lib/index.js'
import { Message, User } from '../support/site.js'

// The compiler is what these checks are for, as in setup/types.test.ts. What it refuses is not sent: the `fetch` of
// this client fails.

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Compiles if both types are exactly the same. */
function same<A, B> (
  ..._proof: Equal<A, B> extends true ? [] : [difference: { readonly left: A, readonly right: B }]
): void {}
/** Compiles if a value is exactly of a type. */
const exactly = <A>() => <B>(
  _value: B, ..._proof: Equal<A, B> extends true ? [] : [difference: { readonly left: A, readonly right: B }]
): void => {}

const Everything = defineModel('Everything', {
  text: text(),
  status: text({ enum: ['draft', 'final'], nullable: true }),
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
  limit: integer(),
  user: foreignKey(() => User, { nullable: true })
})
const House = defineModel('House', { id: uuid(), owner: foreignKey(() => User), address: text() })
const Room = defineModel('Room', { house: foreignKey(() => House), name: text() })
const Bed = defineModel('Bed', { room: foreignKey(() => Room), width: integer() })
const Pillow = defineModel('Pillow', { bed: foreignKey(() => Bed), soft: boolean() })
const Genre = defineModel('Genre', { id: key({ generated: false }), name: text() })
const Employee = defineModel('Employee', {
  name: text(), boss: foreignKey((): Model<'Employee'> => Employee, { nullable: true })
})
const Person = defineModel('Person', { name: text(), friend: foreignKey((): Model => Person, { nullable: true }) })

const options = { baseUrl: 'http://127.0.0.1', fetch: async () => { throw new Error('sent') } }
const models = [User, Message, Everything, House, Room, Bed, Pillow, Genre, Employee, Person] as const
const client = createClient<typeof models>(options)

test('each resource has its name, in lower case, and no other has one', async (t) => {
  same<keyof typeof client, 'user' | 'message' | 'everything' | 'house' | 'room' | 'bed' | 'pillow' | 'genre' |
    'employee' | 'person'>()
  // @ts-expect-error a client cannot have a resource of this name
  t.equal(createClient<[{ model: typeof User, path: 'then' }]>(options).then, undefined)
  // @ts-expect-error no such resource
  t.ok(client.mesage)
  // @ts-expect-error names are in lower case
  t.notOk(client.Message)
  t.same(models.map(({ name }) => name.toLowerCase()) satisfies string[], [
    'user', 'message', 'everything', 'house', 'room', 'bed', 'pillow', 'genre', 'employee', 'person'
  ] satisfies Array<keyof typeof client>)
})

test('every operator that a kind has is a filter, with values of the kind', async (t) => {
  const { list } = client.everything
  list({
    text: 'a',
    text__eq: 'a',
    text__ne: ['a', 'b'],
    text__lt: 'a',
    text__lte: 'a',
    text__gt: 'a',
    text__gte: 'a',
    text__in: ['a'],
    text__is: null,
    text__like: 'a%',
    text__ilike: 'a%'
  })
  list({ text__is: 'notnull', boolean__is: ['notnull', true], user__is: 'notnull' })
  list({ status: 'draft', status__in: ['draft', 'final'], status__like: 'd%' })
  list({
    integer: 1,
    integer__gt: 1,
    bigint: '1',
    bigint__in: ['1', 2n],
    bigint__lt: 1n,
    number__lte: 0.5,
    decimal__gte: '1.50'
  })
  list({
    boolean: true,
    boolean__is: false,
    boolean__ne: false,
    datetime__gte: new Date(0),
    datetime__lt: '2026-01-01',
    date: '2026-01-01'
  })
  list({
    json__is: null,
    uuid: '0',
    limit: 5,
    limit__eq: 5,
    id: 1,
    id__in: [1, 2],
    user: 1,
    user_id: 1,
    user__in: [1, 2],
    user_id__is: null
  })
  list({ user: undefined, limit: undefined, ordering: undefined })

  // @ts-expect-error no such field
  list({ txt: 'a' })
  // @ts-expect-error no such field, beside one that there is
  list({ text: 'a', txt: 'a' })
  // @ts-expect-error a text leads to no other model
  list({ text__id: 1 })
  // @ts-expect-error nor does a primary key
  list({ id__id__in: [1] })
  // @ts-expect-error nor does what is reached through a foreign key
  list({ user__username__id: 1 })
  // @ts-expect-error no such operator
  list({ text__equals: 'a' })
  // @ts-expect-error numbers have no patterns
  list({ integer__like: '1%' })
  // @ts-expect-error JSON is compared with null alone
  list({ json: 'a' })
  // @ts-expect-error passwords are never compared
  list({ password: 'a' })
  // @ts-expect-error not even with null
  list({ password__is: null })

  // @ts-expect-error a text is no number
  list({ integer: '1' })
  // @ts-expect-error a number is no text
  list({ text: 1 })
  // @ts-expect-error decimals are texts
  list({ decimal: 1.5 })
  // @ts-expect-error bigints are texts or bigints
  list({ bigint: 1 })
  // @ts-expect-error a day is no moment
  list({ date: new Date(0) })
  // @ts-expect-error not one of the choices
  list({ status: 'other' })
  // @ts-expect-error only `is` tests null
  await t.rejects(list({ status: null }).then())
  // @ts-expect-error one value is no list
  list({ text__in: 'a' })
  // @ts-expect-error a list of another kind
  list({ integer__in: ['1'] })
  // @ts-expect-error a text is null or not, but neither true nor false
  list({ text__is: true })
  // @ts-expect-error not one of the words
  list({ text__is: 'not null' })
  // @ts-expect-error a pattern is a text
  list({ text__like: 1 })
  await t.rejects(list({ text: {} as string }).then(), TypeError, 'and what is passed by force is refused again')
})

test('filters follow foreign keys under both spellings, three deep at most', async (t) => {
  client.message.list({
    user__username: 'alice', user_id__username__like: 'a%', user__id__in: [1, 2], pub_date__gte: new Date(0)
  })
  client.pillow.list({ bed__width: 1 })
  client.pillow.list({ bed__room__house__address__ilike: 'a%' })
  client.pillow.list({ bed_id__room_id__house_id: '0', bed__room__house__owner: 1, bed__room__name__in: ['a'] })
  client.bed.list({ room__house__owner__username: 'alice' })

  // @ts-expect-error no such field behind the foreign key
  client.message.list({ user__name: 'alice' })
  // @ts-expect-error a text is no foreign key
  client.message.list({ content__username: 'alice' })
  // @ts-expect-error a value of another kind
  client.message.list({ user__username: 1 })
  // @ts-expect-error an operator that the field behind the foreign key does not have
  client.message.list({ user__id__like: '1%' })
  // @ts-expect-error a password behind a foreign key
  client.message.list({ user__password: 'a' })
  // @ts-expect-error no such field, three deep
  client.pillow.list({ bed__room__house__adress: 'a' })
  // @ts-expect-error a value of another kind, three deep
  client.pillow.list({ bed__room__house__address: 1 })
  // @ts-expect-error the id of a house is a UUID
  client.pillow.list({ bed__room__house: 1 })
  // @ts-expect-error four deep
  client.pillow.list({ bed__room__house__owner__username: 'alice' })
  // @ts-expect-error no field between the underscores
  client.message.list({ user____username: 'alice' })
  t.pass('checked by the compiler')
})

test('D-80 a foreign key annotated with the name of its model leads to its fields, any other to the id', async (t) => {
  client.employee.list({ boss__boss__boss__name: 'Ann', boss__name__like: 'A%', boss: 1 })
  // @ts-expect-error no such field
  client.employee.list({ boss__boss__title: 'Ann' })
  client.person.list({ friend__id__gt: 1, friend: 1 })
  // @ts-expect-error nothing is known of a `Model`
  client.person.list({ friend__name: 'Ann' })
  t.pass('checked by the compiler')
})

type AuthorFields = { name: Field<'text'>, best: ForeignKeyField<BookModel> }
interface AuthorModel extends Model<'Author', AuthorFields> {}
type BookFields = { title: Field<'text'>, author: ForeignKeyField<AuthorModel> }
interface BookModel extends Model<'Book', BookFields> {}

test('models may refer to each other in a circle', async (t) => {
  const circular = createClient<[AuthorModel, BookModel]>(options)
  circular.author.list({ best__author__best__title: 'a', best__author__name: 'b' })
  // @ts-expect-error four deep
  circular.author.list({ best__author__best__author__name: 'b' })
  // @ts-expect-error no such field
  circular.book.list({ author__best__name: 'b' })
  t.pass('checked by the compiler')
})

test('records are ordered by one or several of the fields that have an order', async (t) => {
  const { list } = client.everything
  list({ ordering: 'text' })
  list({ ordering: ['-datetime', 'id', 'user', '-user_id'] })
  // @ts-expect-error no such field
  list({ ordering: 'txt' })
  // @ts-expect-error not through foreign keys
  list({ ordering: 'user__username' })
  // @ts-expect-error JSON has no order
  list({ ordering: 'json' })
  // @ts-expect-error passwords have none that is told
  list({ ordering: '-password' })
  // @ts-expect-error one of them is no field
  list({ ordering: ['text', '-txt'] })
  list({ limit: 10, page: 2 })
  list({ after: '' })
  // @ts-expect-error a number
  list({ limit: '10' })
  // @ts-expect-error a cursor is a text
  list({ after: 1 })
  t.pass('checked by the compiler')
})

test('a query that asks for a count gets one, and search is a parameter of resources that have it', async (t) => {
  const searching = createClient<[{ model: typeof User, search: ['username'] }, typeof Message]>(options)
  const calls = async (): Promise<void> => {
    const { meta } = await client.message.list({ count: true, limit: 1 })
    exactly<number>()(meta.count)
    exactly<boolean>()(meta.capped)
    for await (const page of client.message.list({ count: true, user: 1 }).pages()) exactly<number>()(page.meta.count)
    const { meta: plain } = await client.message.list({ limit: 1 })
    // @ts-expect-error it was not asked for
    plain.count satisfies unknown
    const query: ListQuery<typeof Message> = { count: true, limit: 1 }
    const { meta: kept } = await client.message.list(query)
    exactly<number | undefined>()(kept.count)
    await searching.user.list({ search: 'a b', username: 'c', ordering: 'id', count: true })
    await client.everything.list({ limit__eq: 5 })
  }
  t.type(calls, 'function')
  // @ts-expect-error anything but true is refused
  client.message.list({ count: false })
  // @ts-expect-error a text
  searching.user.list({ search: 5 })
  // @ts-expect-error a resource without the option
  searching.message.list({ search: 'a' })
  // @ts-expect-error a resource without the option
  client.user.list({ search: 'a' })
  // @ts-expect-error no such field
  t.type(createClient<[{ model: typeof User, search: ['usrname'] }]>(options).user.list, 'function')
})

test('a list with a count is a list, and so are its pages, for functions that take any', async (t) => {
  const first = async <Item>(list: List<Item>): Promise<Item | undefined> => (await list).objects[0]
  const next = ({ meta }: Page<unknown>): string => meta.next
  const counted = ({ meta }: Page<unknown, Total>): number => meta.count
  const calls = async (count: true | undefined): Promise<void> => {
    const list = client.message.list({ count: true })
    exactly<RecordOf<typeof Message> | undefined>()(await first(list))
    exactly<RecordOf<typeof Message> | undefined>()(await first(client.message.list({ count })))
    for await (const page of list.pages()) exactly<string>()(next(page))
    exactly<number>()(counted(await list))
    // @ts-expect-error it was not asked for
    counted(await client.message.list())
    // @ts-expect-error it may be absent
    counted(await client.message.list({ count }))
  }
  t.type(calls, 'function')
})

/** A function of any resource, as an app may write it. */
const removeAll = async <D extends Described>(
  { delete: remove }: ResourceClient<D>, keys: ReadonlyArray<Parameters<ResourceClient<D>['delete']>[0]>
): Promise<void> => { for (const key of keys) await remove(key) }

test('the bound of the types of resources can be named', async (t) => {
  await t.rejects(removeAll<typeof House>(client.house, ['a']), { message: 'sent' })
})

test('records and bodies are those of the model', async (t) => {
  same<ResourceRecord<typeof Message>, RecordOf<typeof Message>>()
  same<ResourceRecord<typeof Everything>, RecordOf<typeof Everything>>()
  same<ResourceCreate<typeof Everything>, CreateOf<typeof Everything>>()
  const Ticket = defineModel('Ticket', { id: uuid({ clientGenerated: true }), title: text() })
  t.ok(Ticket.primaryKey.options.clientGenerated)
  same<ResourceCreate<typeof Ticket>, { id?: string, title: string }>()
  same<ResourceUpdate<typeof Ticket>, { title?: string }>()
  const Page = defineModel('Page', { title: text(), changed: datetime({ default: 'now', onUpdate: 'now' }) })
  t.ok(Page.byName.get('changed')?.options.onUpdate)
  same<ResourceRecord<typeof Page>, { id: number, title: string, changed: string }>()
  same<ResourceCreate<typeof Page>, { title: string }>()
  same<ResourceUpdate<typeof Page>, { title?: string }>()
  same<ResourceUpdate<typeof Everything>, UpdateOf<typeof Everything>>()
  same<Awaited<ReturnType<typeof client.house.read>>, RecordOf<typeof House>>()
  const calls = async (): Promise<void> => {
    const page = await client.message.list({ limit: 1 })
    exactly<RecordOf<typeof Message> | undefined>()(page.objects[0])
    exactly<string>()(page.meta.next)
    for await (const message of client.message.list()) exactly<RecordOf<typeof Message>>()(message)
    await client.message.create({ user_id: 1, content: 'a' })
    await client.message.update(1, { content: 'a' })
    await client.house.delete('0')
    // @ts-expect-error a required field is missing
    await client.message.create({ content: 'a' })
    // @ts-expect-error no such field
    await client.message.create({ user_id: 1, content: 'a', title: 'a' })
    // @ts-expect-error a value of another kind
    await client.message.create({ user_id: '1', content: 'a' })
    // @ts-expect-error no client chooses an id
    await client.message.create({ id: 1, user_id: 1, content: 'a' })
    await client.genre.create({ id: 1, name: 'a' })
    // @ts-expect-error nobody else makes the key
    await client.genre.create({ name: 'a' })
    await client.genre.update(1, { name: 'a' })
    // @ts-expect-error no such field
    await client.message.update(1, { contents: 'a' })
    // @ts-expect-error an id is a number
    await client.message.read('1')
    // @ts-expect-error the id of a house is a UUID
    await client.house.delete(1)
  }
  await t.rejects(calls(), { message: 'sent' })
})

// As they are given to `register`.
const userOptions = { exclude: ['password', 'email'], readOnly: ['join_date'], filterable: ['email'] } as const
const loose = { exclude: ['email'] }

test('D-79 options of the registration narrow what the client may do', async (t) => {
  const narrowed = createClient<[
    { model: typeof User } & typeof userOptions,
    {
      model: typeof Message
      ownerField: 'user'
      exclude: ['pub_date']
      path: 'blog-posts'
      filterable: ['user__password']
    },
    { model: typeof House, filterable: ['owner__join_date'] }
  ]>(options)
  same<keyof typeof narrowed, 'user' | 'blog-posts' | 'house'>()
  same<Awaited<ReturnType<typeof narrowed.user.read>>, {
    id: number, username: string, join_date: string, active: boolean, admin: boolean
  }>()
  same<Parameters<typeof narrowed.user.create>[0], {
    username: string, password: string, email: string, active?: boolean, admin?: boolean
  }>()
  same<Parameters<typeof narrowed.user.update>[1], {
    username?: string, password?: string, email?: string, active?: boolean, admin?: boolean
  }>()
  const posts = narrowed['blog-posts']
  same<Parameters<typeof posts.create>[0], { content: string, pub_date?: string, user_id?: number }>()
  same<Parameters<typeof posts.update>[1], { content?: string, pub_date?: string }>()
  posts.list({ user__username: 'alice', user__email: 'a', ordering: 'content' })
  narrowed.house.list({ owner__join_date__lt: new Date(0), owner__username: 'alice' })
  // @ts-expect-error an excluded field is no filter
  posts.list({ pub_date: '2026-01-01' })
  // @ts-expect-error nor an ordering
  posts.list({ ordering: 'pub_date' })
  // @ts-expect-error not even a deployer opens a password
  posts.list({ user__password: 'a' })
  // @ts-expect-error an opened path has operators of its kind alone
  narrowed.house.list({ owner__join_date__like: 'a' })

  const hidden = createClient<[
    { model: typeof User, exclude: ['email'] }, typeof Message, { model: typeof House, filterable: ['owner__email'] }
  ]>(options)
  // @ts-expect-error what is excluded of users is so through messages
  hidden.message.list({ user__email: 'a' })
  hidden.house.list({ owner__email__like: 'a%' })

  const wrong =
    createClient<[{ model: typeof User, exclude: ['e_mail'] }, { model: typeof Message } & typeof loose]>(options)
  // @ts-expect-error `e_mail` is not a field of the model
  wrong.user.list()
  // @ts-expect-error the names are lost: `as const` is missing
  wrong.message.list()
  t.ok([userOptions, loose])
})

test('a create may leave out what the scope fixes, by the name of the field or by that in records', async (t) => {
  const Desk = defineModel('Desk', {
    owner: foreignKey(() => User), room: foreignKey(() => Room, { key: 'roomNo' }), label: text()
  })
  type Create<Scope extends object | null> = ResourceCreate<{ model: typeof Desk, scope: () => Scope }>
  t.ok(Desk.byName.get('roomNo'))
  same<Create<{ owner: number }>, { roomNo: number, label: string, owner_id?: number }>()
  same<Create<{ owner_id: number }>, { roomNo: number, label: string, owner_id?: number }>()
  same<Create<{ roomNo: number } | { label: string } | null>, { owner_id: number, roomNo?: number, label?: string }>()
  same<Create<{ owner__in: number[], room__name: string, id: number }>, CreateOf<typeof Desk>>()
})

interface Form {
  user__username?: string
  pub_date__gte?: Date
  ordering?: 'pub_date' | '-pub_date'
  count?: true
  limit: number
}
interface DeepForm { room__house__owner__username: string, width: number }
interface WrongForm { user__name: string }

test('a query can be kept in a variable, also of an interface', async (t) => {
  const query: ListQuery<typeof Message> = { user__username: 'alice', ordering: '-pub_date' }
  client.message.list({ ...query, limit: 5 })
  client.message.list(query)
  const deep = { room__house__owner__username: 'alice' }
  client.bed.list(deep)
  const wrong = { room__house__owner__name: 'alice' }
  // @ts-expect-error no such field
  client.bed.list(wrong)
  const calls = async (form: Form, deepForm: DeepForm, wrongForm: WrongForm): Promise<void> => {
    const { meta } = await client.message.list(form)
    exactly<number | undefined>()(meta.count)
    await client.message.list({ ...form, limit: 5 })
    await client.bed.list(deepForm)
    // @ts-expect-error no such field
    await client.message.list(wrongForm)
    // @ts-expect-error a value of another kind
    await client.bed.list(form)
  }
  t.type(calls, 'function')
  // @ts-expect-error no such field
  const typed: ListQuery<typeof Message> = { user__name: 'alice' }
  t.ok(typed)
})

test('related records have the types that the literal of include names', async (t) => {
  const { room, bed, message, employee, pillow } = client
  t.ok(true)
  const use = async (): Promise<void> => {
    const { objects: [first] } = await room.list({ include: ['house', 'house__owner'] })
    exactly<{
      id: number
      house_id: string
      name: string
      house: { id: string, owner_id: number, address: string, owner: RecordOf<typeof User> | null } | null
    } | undefined>()(first)
    const read = await bed.read(1, { include: ['room__house'] })
    exactly<RecordOf<typeof House> | null | undefined>()(read.room?.house)
    const { objects: [plain] } = await bed.list({ width: 1 })
    exactly<RecordOf<typeof Bed> | undefined>()(plain)
    same<Awaited<ReturnType<typeof bed.create>>, RecordOf<typeof Bed>>()
    const boss = await employee.read(1, { include: ['boss__boss'] })
    exactly<RecordOf<typeof Employee> | null | undefined>()(boss.boss?.boss)
    const query: ListQuery<typeof Room> = { include: ['house__owner'], name: 'a' }
    const { objects: [either] } = await room.list(query)
    t.ok(either?.name)
    await room.list({ include: [], name: 'a', house__address__like: 'a%' })
    // @ts-expect-error a key, not a declared name
    await room.list({ include: ['house_id'] })
    // @ts-expect-error no foreign key
    await room.list({ include: ['name'] })
    // @ts-expect-error no such foreign key behind it
    await room.list({ include: ['house__nothing'] })
    // @ts-expect-error four deep
    await pillow.list({ include: ['bed__room__house__owner'] })
    // @ts-expect-error no foreign key
    await bed.read(1, { include: ['width'] })
    // @ts-expect-error not included
    t.ok((await message.read(1)).user)
  }
  t.type(use, 'function')
})

test('a related model that the client does not list has its id alone; no excluded one can be included', async (t) => {
  const some = createClient<[{ model: typeof House, exclude: ['owner'] }, typeof Room, typeof Bed]>(options)
  const use = async (): Promise<void> => {
    const other = createClient<[typeof Bed]>(options)
    const { room } = await other.bed.read(1, { include: ['room'] })
    exactly<{ id: number } | null>()(room)
    const { house } = await some.room.read(1, { include: ['house'] })
    exactly<{ id: string, address: string } | null>()(house)
    // @ts-expect-error excluded
    await some.room.read(1, { include: ['house__owner'] })
    // @ts-expect-error excluded
    await some.house.list({ include: ['owner'] })
  }
  t.type(use, 'function')
})

test('D-145 related records are those of the first resource of their model', async (t) => {
  type Short = { model: typeof User, path: 'directory', exclude: ['email', 'password', 'join_date'] }
  const first = createClient<[{ model: typeof User, exclude: ['password'] }, typeof Message, Short]>(options)
  const last = createClient<[Short, typeof Message, typeof User]>(options)
  const any = createClient<ReadonlyArray<typeof User | typeof Message>>(options)
  const use = async (): Promise<void> => {
    const { user } = await first.message.read(1, { include: ['user'] })
    exactly<{
      id: number, username: string, email: string, join_date: string, active: boolean, admin: boolean
    } | null>()(user)
    await first.message.list({ user__email: 'a', user_id__join_date__lt: new Date(0) })
    const { user: short } = await last.message.read(1, { include: ['user'] })
    exactly<{ id: number, username: string, active: boolean, admin: boolean } | null>()(short)
    // @ts-expect-error the first resource excludes it
    await last.message.list({ user__email: 'a' })
    await last.user.list({ email: 'a' })
    const { user: plain } = await any.message.read(1, { include: ['user'] })
    exactly<RecordOf<typeof User> | null>()(plain)
  }
  t.type(use, 'function')
})

test('only resources with the option etag take ifMatch', async (t) => {
  type Tagged = [
    typeof User, { model: typeof Message, etag: true }, { model: typeof Everything } & { readonly etag: true },
    { model: typeof User, path: 'others', etag: false },
    // As of an object that is not declared `as const`.
    { model: typeof User, path: 'some', etag: boolean }
  ]
  const { user, message, everything, others, some } =
    createClient<Tagged>({ baseUrl: 'https://example.com', fetch: async () => { throw new Error('nothing is sent') } })
  const calls: ReadonlyArray<Promise<unknown>> = [
    message.update(1, {}, { ifMatch: '"a"' }), everything.delete(1, { ifMatch: '"a"' }),
    some.update(1, {}, { ifMatch: '"a"' }),
    // @ts-expect-error not described with the option
    user.update(1, {}, { ifMatch: '"a"' }),
    // @ts-expect-error without the option
    others.delete(1, { ifMatch: '"a"' })
  ]
  for (const call of calls) await t.rejects(call as Promise<void>, { message: 'nothing is sent' })
  // @ts-expect-error a read has no such condition
  await t.rejects(message.read(1, { ifMatch: '"a"' }), { message: /^read\(\) has an unknown option/ })
})
