// @once: checked by the compiler

import { test } from 'tap'
import {
  adminAuth, defineModel, foreignKey, hostAuth, integer, text, type Model, type ResourceOptions
} from '../../lib/index.js'
import { User } from '../support/site.js'

const Task = defineModel('Task', { status: text({ enum: ['open', 'done'] }), rank: integer() })
const Note = defineModel('Note', { task: foreignKey(() => Task), kind: text({ enum: ['a', 'b'], nullable: true }) })
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
