// @once: checked by the compiler

import { test } from 'tap'
import {
  boolean, defineModel, foreignKey, hostAuth, integer, invalidRecord, openAuth, password, text, userAuth, uuid,
  type FinishedWrite, type Identity, type Model, type PlannedWrite, type Policy, type ResourceOptions,
  type ResourceRegistry
} from '../../lib/index.js'
import { User } from '../support/site.js'

// The compiler is what these checks are for, as in types.test.ts.

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
function same<A, B> (..._proof: Equal<A, B> extends true ? [] : [difference: [A, B]]): void {}

const Post = defineModel('Post', {
  user: foreignKey(() => User), title: text(), done: boolean({ default: false }), pin: password({ nullable: true })
})
type Of<Auth extends NonNullable<ResourceOptions['auth']>> = ResourceOptions<typeof Post, Auth>

test('hooks have the types of the model and of the policy', (t) => {
  const auth = userAuth(User, { fields: ['email'], protect: 'all' })
  const hooks: Of<typeof auth> = {
    auth,
    beforeWrite: ({ operation, values, stored, user, request }) => {
      same<typeof values.title, string | undefined>()
      same<typeof values.user_id, number | undefined>()
      same<typeof values.done, boolean | undefined>()
      same<typeof request.method, string>()
      if (user !== null) same<typeof user.email, string>()
      // @ts-expect-error no field of the model
      values.nothing satisfies unknown
      // @ts-expect-error the name of answers is user_id
      values.user satisfies unknown
      // @ts-expect-error a create has no record before it
      stored.title satisfies unknown
      if (operation === 'create') same<typeof stored, undefined>()
      else same<typeof stored.title, string>()
      return { title: 'x', done: true, user_id: 1, pin: null }
    },
    afterWrite: async ({ record, stored, db }) => {
      same<typeof record.id, number>()
      // @ts-expect-error hooks get no hash
      record.pin satisfies unknown
      // @ts-expect-error nor of the record before
      stored?.pin satisfies unknown
      // @ts-expect-error what is to be written is known to beforeWrite alone
      ;((write: Parameters<NonNullable<Of<typeof auth>['afterWrite']>>[0]) => write.values) satisfies unknown
      await db.insertInto('any').values({ thing: 1 }).execute()
    }
  }
  // @ts-expect-error no field of the model
  const unknown: Of<typeof auth> = { beforeWrite: () => ({ nothing: 1 }) }
  // @ts-expect-error a text is no number
  const wrong: Of<typeof auth> = { beforeWrite: () => ({ title: 1 }) }
  // @ts-expect-error no hook sets the key
  const key: Of<typeof auth> = { beforeWrite: () => ({ id: 1 }) }
  const fields = { post: foreignKey(() => Post), row: integer(), note: text() }
  const Line = defineModel('Line', fields, { key: ['post', 'row'] })
  const line: ResourceOptions<typeof Line, typeof auth> = { beforeWrite: () => ({ note: 'x' }) }
  // @ts-expect-error nor a part of it
  const part: ResourceOptions<typeof Line, typeof auth> = { beforeWrite: () => ({ post_id: 1 }) }
  // @ts-expect-error a hook is a function
  const none: Of<typeof auth> = { afterWrite: 'text' }
  // @ts-expect-error a message is a text
  t.throws(() => { throw invalidRecord({ title: 1 }) })
  t.same([Post.name, Line.name], ['Post', 'Line'])
  t.ok([hooks, unknown, wrong, key, line, part].every(({ beforeWrite }) => beforeWrite) && none.afterWrite)
  t.end()
})

test('a hook may be a function of its own: for one resource, for any model, or for all', (t) => {
  const session = hostAuth(() => ({ id: 'x', tenant: 7 }), { protect: 'all' })
  const one = ({ record, stored, user }: FinishedWrite<typeof Post, typeof session>): void => {
    const { title, id } = { ...stored, ...record }
    t.same([title, id], [record.title, record.id] satisfies [typeof title, typeof id])
    same<[typeof title, typeof id, typeof record.user_id], [string, number, number]>()
    if (user !== null) same<typeof user.tenant, number>()
    // @ts-expect-error hooks get no hash
    record.pin satisfies unknown
  }
  const planned = ({ values, stored }: PlannedWrite<typeof Post, typeof session>): { title: string } => {
    same<typeof values.title, string | undefined>()
    return { title: { title: 'x', ...stored, ...values }.title }
  }
  const generic = <M extends Model>({ record, stored }: FinishedWrite<M>): unknown => [record.id, stored?.id]
  const all = ({ record, stored, user }: FinishedWrite): unknown => [record.id, stored?.id, user?.id]
  const anybody = ({ record, user }: FinishedWrite<Model, Policy<Identity>>): unknown => [record.id, user?.id]
  const register = (registry: ResourceRegistry): void => {
    registry.register(Post, { auth: session, beforeWrite: planned, afterWrite: one })
    registry.register(Post, { auth: session, afterWrite: anybody })
    registry.register(Post, { auth: userAuth(User), afterWrite: all })
    registry.register(Post, { auth: userAuth(User), afterWrite: generic })
    registry.register(Post, { auth: userAuth(User), afterWrite: (write) => { generic(write) } })
    // @ts-expect-error without the second type, the user is that of HTTP Basic
    registry.register(Post, { auth: session, afterWrite: (_write: FinishedWrite<typeof Post>) => {} })
  }
  t.type(register, 'function')
  t.end()
})

test('a hook for all models fits models with keys of every kind', (t) => {
  const Tag = defineModel('Tag', { id: uuid(), title: text() })
  const Line = defineModel('Line', { post: foreignKey(() => Post), row: integer() }, { key: ['post', 'row'] })
  const planned = ({ values, stored }: PlannedWrite): void => {
    same<[typeof values.id, typeof stored], [number | string | undefined, FinishedWrite['stored']]>()
  }
  const finished = ({ record }: FinishedWrite): void => { same<typeof record.id, number | string>() }
  const register = (registry: ResourceRegistry): void => {
    registry.register(Tag, { auth: userAuth(User), beforeWrite: planned, afterWrite: finished })
    registry.register(Line, { auth: userAuth(User), beforeWrite: planned, afterWrite: finished })
    registry.register(Post, { auth: userAuth(User), beforeWrite: planned, afterWrite: finished })
    registry.register(Tag, { auth: userAuth(User), afterWrite: (write) => { finished(write) } })
    registry.register(Line, { auth: openAuth(), afterWrite: (write) => { finished(write) } })
    registry.register(Line, { auth: openAuth(), beforeWrite: (write) => { planned(write) } })
  }
  t.type(register, 'function')
  t.end()
})

test('the user of a hook is that of the policy, or null where nobody need be logged in', (t) => {
  const session = hostAuth(() => ({ id: 'x', admin: false, tenant: 7 }), { protect: 'all' })
  const own: Of<typeof session> = {
    auth: session, afterWrite: ({ user }) => { if (user !== null) same<typeof user.tenant, number>() }
  }
  const open = openAuth()
  const free: Of<typeof open> = {
    auth: open, afterWrite: ({ user }) => { same<null extends typeof user ? true : false, true>() }
  }
  t.ok(own.afterWrite && free.afterWrite)
  t.end()
})
