import type { Test } from 'tap'
import { createClient, type Client, type ClientOptions } from '../../lib/client.js'
import { buildApp, Message, Note, registerSite, User, type BuildOptions, type TestApp } from '../support/site.js'

/** The resources of the example project, with the options that the server has. */
export type Site =
  [{ model: typeof User, exclude: ['password', 'email'] }, { model: typeof Message, ownerField: 'user' }, typeof Note]

/** A request that a client has sent. */
export interface Sent {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly authorization: string | undefined
}

export interface Served extends TestApp {
  readonly address: string
  /** A client of the app for a user, whose password is the name. */
  as (username?: string, options?: Partial<ClientOptions>): Client<Site>
  /** All requests since the start. */
  readonly sent: Sent[]
}

/** An app that listens on a free port, and clients of it. */
export async function serve (t: Test, options: BuildOptions = {}): Promise<Served> {
  const sent: Sent[] = []
  const built = await buildApp(t, {
    register: registerSite,
    ...options,
    prepare: async (app, db) => {
      app.addHook('onRequest', async ({ method, url, headers: { authorization } }) => {
        sent.push({ method, url, authorization })
      })
      await options.prepare?.(app, db)
    }
  })
  const address = await built.app.listen({ port: 0, host: '127.0.0.1' })
  const as: Served['as'] = (username, more = {}) =>
    createClient<Site>({ baseUrl: address, ...username !== undefined && { username, password: username }, ...more })
  return { ...built, address, as, sent }
}

/** Messages of alice and bob by turns, with texts that a list has to protect. */
export const messages = ['hello', 'a, b', 'say "hi"', '', 'é & ü = 100%+1', 'last'].map((content, index) => ({
  id: index + 1, user_id: index % 2 + 2, content, pub_date: `2024-01-0${index + 1} 10:00:00`
}))
