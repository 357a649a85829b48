// @once: about lines in the log, which no engine changes

import { test } from 'tap'
import { defineModel, foreignKey, text, userAuth } from '../../lib/index.js'
import { buildApp, Message, User, type BuildOptions } from '../support/site.js'

/** Returns what an app warns of at start-up about the option `filterable`. */
async function warningsOf (t: Parameters<typeof buildApp>[0], options: BuildOptions): Promise<readonly string[]> {
  const lines: string[] = []
  const write = (line: string): void => { lines.push(JSON.parse(line).msg) }
  await buildApp(t, { ...options, server: { logger: { level: 'warn', stream: { write } } } })
  return lines.filter((line) => line.includes("'filterable'"))
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
