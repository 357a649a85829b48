// @once: about lines in the log, which no engine changes

import { test } from 'tap'
import { defineModel, foreignKey, openAuth, text, userAuth, type ResourceOptions } from '../../lib/index.js'
import { buildApp, Message, Note, User, type BuildOptions } from '../support/site.js'

/** Returns what an app warns of at start-up, as far as it is about a certain thing. */
async function warningsOf (
  t: Parameters<typeof buildApp>[0], options: BuildOptions, about = "'filterable'"
): Promise<readonly string[]> {
  const lines: string[] = []
  const write = (line: string): void => { lines.push(JSON.parse(line).msg) }
  await buildApp(t, { ...options, server: { logger: { level: 'warn', stream: { write } } } })
  return lines.filter((line) => line.includes(about))
}

test('an entry of filterable that has no effect is told at start-up, once and with the reason', async (t) => {
  t.same(await warningsOf(t, {
    register: (registry) => {
      registry.register(User, { auth: userAuth(User, { protect: 'all' }), exclude: ['password'] })
        .register(Message, { auth: userAuth(User), filterable: ['user__username'] })
    }
  }), [
    "'user__username' in 'filterable' of resource 'message' has no effect, because clients of this resource may not " +
    "list model 'User'. Give both resources the same policy, or open the reads of 'User'"
  ])
  const Reply = defineModel('Reply', { message: foreignKey(() => Message), content: text() })
  t.same(await warningsOf(t, {
    models: [User, Message, Reply],
    register: (registry) => {
      registry.register(User).register(Message).register(Reply, { filterable: ['message__user__username'] })
    },
    options: { limits: { joins: 1 } }
  }), [
    "'message__user__username' in 'filterable' of resource 'reply' has no effect, because it follows more than the 1 " +
    "foreign keys of 'limits.joins'"
  ])
})

test('an entry of filterable that has an effect for somebody is not told', async (t) => {
  const auth = userAuth(User, { protect: 'all' })
  t.same(await warningsOf(t, {
    register: (registry) => {
      registry.register(User, { auth, exclude: ['password'] })
        .register(Message, { auth, filterable: ['user__username'] })
    }
  }), [])
})

test('a foreign key that no client can set is told at start-up, with the reason', async (t) => {
  const scope = (user: object | null) => user === null ? null : {}
  const all = { protect: 'all' } as const
  const told = async (
    users: BuildOptions['register'], auth: ReturnType<typeof userAuth>, options: ResourceOptions = {}
  ) => await warningsOf(t, {
    register: (registry) => {
      users?.(registry)
      registry.register(Message, { ...options, auth } as object)
    }
  }, 'No client can set')
  const guarded: BuildOptions['register'] = (registry) =>
    registry.register(User, { auth: userAuth(User, { ...all, fields: ['email'] }), exclude: ['password'], scope })
  t.strictSame(await told(guarded, userAuth(User, all)), [
    "No client can set 'user' of resource 'message', because the policy of model 'User' does not know the users of " +
    "this resource. Give both the same policy, or one with the same 'login' and all its 'fields'. If no client is to " +
    "set the field, name it in 'readOnly'"
  ])
  t.strictSame(await told(guarded, openAuth()), await told(guarded, userAuth(User, all)))
  t.strictSame(await told(guarded, userAuth(User, { ...all, fields: ['username', 'email'] })), [])
  t.strictSame(await told(guarded, { ...userAuth(User, all), closed: ['create', 'update'] }), [])
  t.strictSame(await told((registry) => registry.register(User, {
    auth: userAuth(User, { fields: ['email'] }), exclude: ['password'], scope
  }), userAuth(User, all)), [], 'what everybody may see can be set')
  const limited = (conditions: object) => ({ scope: () => conditions as never })
  t.strictSame(await told(guarded, userAuth(User, all), limited({ user: 1 })), [], 'the scope sets it')
  t.equal((await told(guarded, userAuth(User, all), limited({ user__username: 'a' }))).length, 1)
})

test('references that follow a resource without a scope are told, if a later one has a scope', async (t) => {
  const scope = (user: object | null) => user === null ? null : {}
  const closed = userAuth(User, { protect: 'all' })
  let isReferredTo = true
  const told = async (first: ReturnType<typeof userAuth>, ...scopes: Array<typeof scope | undefined>) =>
    await warningsOf(t, {
      register: (registry) => {
        registry.register(User, { auth: first, exclude: ['password'], path: 'all' })
        if (isReferredTo) registry.register(Message, { auth: closed })
        for (const [index, given] of scopes.entries()) {
          registry.register(User, {
            auth: closed, exclude: ['password'], path: `user${index}`, ...given && { scope: given }
          })
        }
      }
    }, 'references follow the first resource')
  t.strictSame(await told(closed, undefined, scope), [
    "Clients may refer to records of model 'User' that the scope of resource 'user1' hides from them, because " +
    "references follow the first resource, 'all', which has no scope. Register 'user1' before it"
  ])
  t.strictSame(await told(closed, undefined), [])
  t.strictSame(await told(userAuth(User), scope), [], 'anybody may list the first')
  isReferredTo = false
  t.strictSame(await told(closed, scope), [], 'nothing refers to the model')
})

test('what refers to another model, or by its owner field, gets around no scope', async (t) => {
  const scope = (user: object | null) => user === null ? null : {}
  const closed = userAuth(User, { protect: 'all' })
  const Label = defineModel('Label', { note: foreignKey(() => Note) })
  const told = async (before: BuildOptions['register'], first = {}, later: object = { scope }) => await warningsOf(t, {
    models: [User, Note, Message, Label],
    register: (registry) => {
      before?.(registry)
      registry.register(User, { auth: closed, exclude: ['password'], path: 'all', ...first })
      registry.register(User, { auth: closed, exclude: ['password'], path: 'some', ...later })
    }
  }, 'references follow the first resource')
  const messages: BuildOptions['register'] = (registry) => registry.register(Message, { auth: closed })
  t.equal((await told(messages)).length, 1, 'the order of other models does not count')
  t.strictSame(await told((registry) => registry.register(Label, { auth: closed })), [])
  t.strictSame(await told((registry) => registry.register(Message, { auth: closed, ownerField: 'user' })), [])
  t.strictSame(await told(messages, { scope }), [], 'the first has a scope')
  t.strictSame(await told((registry) => registry.register(Message, { auth: closed, scope }), {}, {}), [],
    'only another model has a scope')
})
