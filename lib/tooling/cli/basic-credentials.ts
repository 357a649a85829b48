import { createHash, timingSafeEqual } from 'node:crypto'
import type { onRequestAsyncHookHandler } from 'fastify'
import { errors } from '../../errors.js'
import { refuse } from '../../policy/refusal.js'
import { requireKnown } from '../../suggest.js'

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
 * @throws REST_MODELS_INVALID_OPTIONS if there are other credentials than a user and a password, if one of the two is
 *   no text or is empty, or if the user has a colon. The message repeats no value
 */
export function requireCredentials (credentials: ServeCredentials): onRequestAsyncHookHandler {
  requireKnown<ServeCredentials>("'credentials' of serveDatabase()", credentials, { user: true, password: true })
  const { user, password } = credentials
  if (!isFilled(user) || user.includes(':') || !isFilled(password)) {
    throw new errors.InvalidOptions('A user has a name without colons, and a password that is not empty: give both ' +
      `as texts, in 'credentials' or by --user and ${passwordVariable}; an environment variable may not be set`)
  }
  const wanted = digestOf(`${user}:${password}`)
  return async ({ headers: { authorization = '' } }, reply) => {
    reply.header('cache-control', 'no-store')
    const [, encoded = ''] = /^basic +([\w+/-]+=*)$/i.exec(authorization) ?? []
    const given = digestOf(Buffer.from(encoded, 'base64').toString())
    if (!timingSafeEqual(given, wanted)) return await refuse(reply, undefined)
  }
}

/** True for a text that is not empty. An environment variable that is not set would become the password "undefined". */
function isFilled (value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function digestOf (text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
