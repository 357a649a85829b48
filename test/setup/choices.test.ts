// @once: checked by the compiler

import { test } from 'tap'
import {
  adminAuth, boolean, datetime, defineModel, foreignKey, hostAuth, integer, json, text, type Model,
  type ResourceOptions
} from '../../lib/index.js'
import { User } from '../support/site.js'

const Task = defineModel('Task', { status: text({ enum: ['open', 'done'] }), rank: integer() })
const Note = defineModel('Note', { task: foreignKey(() => Task), kind: text({ enum: ['a', 'b'], nullable: true }) })
const Offer = defineModel('Offer', {
  title: text(),
  until: datetime({ nullable: true }),
  count: integer(),
  sold: boolean(),
  data: json({ nullable: true }),
  task: foreignKey(() => Task)
})
const auth = hostAuth(() => ({ id: 1, admin: true }), { protect: 'all' })

/** Takes options as `register()` does, from which the compiler has to infer the policy. */
function take<M extends Model, Auth extends typeof auth> (_model: M, options: ResourceOptions<M, Auth>): unknown {
  return options
}

test('D-260: the choices of an enum are written in scopes without `as const`, and checked', (t) => {
  take(Task, { auth, scope: () => ({ status: 'open' }) })
  take(Task, { auth, scope: ({ admin }) => admin ? null : { status: 'open' } })
  take(Task, { auth, scope: ({ admin }) => ({ status: admin ? 'open' : 'done', rank__gt: 1 }) })
  take(Task, {
    auth,
    scope: ({ admin }) => {
      if (admin) return {}
      return { status: ['open', 'done'] }
    }
  })
  take(Note, { auth, scope: ({ admin }) => admin ? { task__status: 'open' } : { task__status__in: ['open', 'done'] } })
  take(Note, { auth, scope: () => ({ kind: null }) })
  // @ts-expect-error a text that is no choice
  take(Task, { auth, scope: () => ({ status: 'opn' }) })
  // @ts-expect-error one among others that are
  take(Task, { auth, scope: () => ({ status: ['open', 'opn'] }) })
  // @ts-expect-error the same through a foreign key
  take(Note, { auth, scope: () => ({ task__status: 'opn' }) })
  // @ts-expect-error a number is no choice
  take(Task, { auth, scope: () => ({ status: 7 }) })
  // @ts-expect-error a text is no integer
  take(Task, { auth, scope: () => ({ rank: 'x' }) })
  t.pass('checked by the compiler')
  t.end()
})

test('the value of a condition in a scope has the type that its operator takes', (t) => {
  const state: string = 'notnull'
  take(Offer, { auth, scope: () => ({ until__is: 'notnull', data__is: null, sold__is: true, count__eq: null }) })
  take(Offer, { auth, scope: ({ admin }) => ({ until__is: admin ? null : 'notnull', data: null, data__eq: null }) })
  take(Offer, { auth, scope: () => ({ until__is: [null, 'notnull'], title__like: ['a%', 'b%'], count__gt: [1, 2] }) })
  take(Offer, { auth, scope: () => ({ task__status__in: ['open'], task__rank__in: [], task__ne: 1, id__in: [1, 2] }) })
  // @ts-expect-error a number is no constant
  take(Offer, { auth, scope: () => ({ count__is: 5 }) })
  // @ts-expect-error a date is no constant
  take(Offer, { auth, scope: () => ({ until__is: '2026-01-01 00:00:00' }) })
  // @ts-expect-error nor is any text
  take(Offer, { auth, scope: () => ({ until__is: state }) })
  // @ts-expect-error only a boolean is true
  take(Offer, { auth, scope: () => ({ title__is: true }) })
  // @ts-expect-error null is no list
  take(Offer, { auth, scope: () => ({ count__in: null }) })
  // @ts-expect-error one value is no list
  take(Offer, { auth, scope: () => ({ task__rank__in: 5 }) })
  // @ts-expect-error null is no pattern
  take(Offer, { auth, scope: () => ({ title__like: null }) })
  // @ts-expect-error nothing is greater than null
  take(Offer, { auth, scope: () => ({ count__gt: null }) })
  // @ts-expect-error the same through a foreign key
  take(Offer, { auth, scope: () => ({ task__rank__is: 5 }) })
  t.pass('checked by the compiler')
  t.end()
})

test('D-260: the choices of an enum are written in hooks without `as const`, and checked', (t) => {
  take(Task, { auth, beforeWrite: () => ({ status: 'open' }) })
  take(Task, { auth, beforeWrite: ({ values }) => ({ ...values, status: 'open' }) })
  take(Task, { auth, beforeWrite: ({ operation }) => operation === 'create' ? { status: 'open', rank: 1 } : {} })
  take(Task, { auth, beforeWrite: async ({ values, user }) => user.admin ? { ...values, status: 'done' } : values })
  take(Task, { auth, beforeWrite: () => {} })
  // @ts-expect-error a text that is no choice
  take(Task, { auth, beforeWrite: () => ({ status: 'opn' }) })
  // @ts-expect-error the same behind a promise
  take(Task, { auth, beforeWrite: async () => ({ status: 'opn' }) })
  // @ts-expect-error a text is no integer
  take(Task, { auth, beforeWrite: async () => ({ rank: 'x' }) })
  t.pass('checked by the compiler')
  t.end()
})

test('D-260: they are written so in options that are declared by themselves, too', (t) => {
  const some: ResourceOptions<typeof Task> = { auth: adminAuth(User), scope: () => ({ status: 'open' }) }
  t.same(some.scope?.(null as never), { status: 'open' })
  t.end()
})
