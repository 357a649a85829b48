import { createHash, timingSafeEqual } from 'node:crypto'
import type { onRequestAsyncHookHandler } from 'fastify'
import { errors } from '../../errors.js'
import { refuse } from '../../policy/refusal.js'

/** The user and the password that every request must send. */
export interface ServeCredentials {
  readonly user: string
  readonly password: string
}

/** Environment variable for the password, because other users of a machine see the arguments of a command. */
export const passwordVariable = 'REST_MODELS_PASSWORD'

/**
 * Returns the user and the password from the options of a command. If these have no password, the environment variable
 * {@link passwordVariable} gives it. Returns undefined if there is neither a user nor a password.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if only one of the two is given: without this error, everybody could read the
 *   database. The message does not repeat the user, because somebody may have written `name:password` there
 */
export function readCredentials (
  { user, password: given }: { readonly user?: string, readonly password?: string }, env: NodeJS.ProcessEnv
): ServeCredentials | undefined {
  const password = given ?? env[passwordVariable]
  if (user === undefined && password === undefined) return undefined
  if (user === undefined) throw new errors.InvalidOptions('There is a password, but no user: add --user <name>')
  if (password === undefined) {
    throw new errors.InvalidOptions('There is a user, but no password: set the environment variable ' +
      `${passwordVariable}, or add --password <text>`)
  }
  return { user, password }
}

/**
 * Returns a hook that answers 401 to every request without the credentials, and forbids caches to keep any answer. It
 * compares digests in constant time, so that the time of an answer does not show how much of a guess is right.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if the user or the password is empty, or if the user has a colon
 */
export function requireCredentials ({ user, password }: ServeCredentials): onRequestAsyncHookHandler {
  if (user === '' || user.includes(':') || password === '') {
    throw new errors.InvalidOptions('A user has a name without colons, and a password that is not empty')
  }
  const wanted = digestOf(`${user}:${password}`)
  return async ({ headers: { authorization = '' } }, reply) => {
    reply.header('cache-control', 'no-store')
    const [, encoded = ''] = /^basic +([\w+/-]+=*)$/i.exec(authorization) ?? []
    const given = digestOf(Buffer.from(encoded, 'base64').toString())
    if (!timingSafeEqual(given, wanted)) return await refuse(reply, undefined)
  }
}

function digestOf (text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
