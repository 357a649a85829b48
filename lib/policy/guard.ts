import type { FastifyReply, FastifyRequest, onRequestHookHandler, preHandlerHookHandler } from 'fastify'
import type { Engine } from '../database/engine.js'
import { toHostError } from '../database/host-failure.js'
import { errors, shownName } from '../errors.js'
import { ignoreRejection } from '../values/promises.js'
import { isPromise } from '../values/values.js'
import type { Operation } from './operations.js'
import { knowsUsers } from './policies.js'
import type { AnyPolicy, Authenticate, Identity, PolicyUser, SecurityScheme } from './policy.js'
import type { Protections } from './protection.js'
import { refuse } from './refusal.js'
import { warnOnce } from './warn-once.js'

/** Key under which a request keeps the user who sent it. */
export const kUser = Symbol('rest-models.user')

/**
 * Returns the user who sent a request, as the policy found it. Returns null if the policy found nobody, does not permit
 * the operation to the user, or has not looked for a user. If anybody may do the operation, a policy looks for the user
 * only if the resource has a scope. On a route of the host, it looks only if the route has the hooks of `guard()`.
 */
export function userOf<User extends Identity = PolicyUser> (
  request: Pick<FastifyRequest, 'getDecorator'>
): User | null {
  return kUser in request ? request.getDecorator<User | undefined>(kUser) ?? null : null
}

/** The parts of a resource that decide who may do which operation, and the engine whose failures a policy may throw. */
export interface Protected {
  readonly policy: AnyPolicy
  readonly protections: Protections
  /** The rule that says which records of the resource a user may see; undefined if everybody may see every record. */
  readonly scopeRule: unknown
  readonly engine: Pick<Engine, 'dialect'>
}

/** A check of a request before the handler. It throws or rejects if it refuses the request, or answers it itself. */
export type Step = (request: FastifyRequest, reply: FastifyReply) => undefined | Promise<undefined>

/**
 * Returns a hook that runs a step. If the step is done at once, the next hook follows at once. A step that throws is
 * given to Fastify as a rejection, because Fastify goes on to the handler if a hook throws `undefined`.
 */
export function hookOf (step: Step): preHandlerHookHandler {
  return (request, reply, done) => {
    let waiting: Promise<undefined> | undefined
    try {
      waiting = step(request, reply)
    } catch (failure) {
      return Promise.reject(failure)
    }
    return waiting ?? done()
  }
}

/**
 * Returns the steps that apply a policy before an operation:
 *
 * - Nobody may do the operation: a step answers 401, as the service document demands for its read-only policy.
 * - The operation needs a user: a step looks for the user. It answers 401 if there is none, and 403 if the policy does
 *   not permit the operation to the user.
 * - Anybody may do the operation: a step looks for the user if the resource has a scope and the policy knows users. It
 *   answers 401 to wrong credentials. Otherwise there is no step.
 */
export function policySteps (
  { policy, protections, scopeRule, engine }: Protected, authenticate: Authenticate, operation: Operation
): readonly Step[] {
  const { [operation]: protection } = protections
  const { scheme } = policy
  const finder = { authenticate, engine }
  if (protection === 'closed') return [(_request, reply) => refuse(reply, scheme)]
  if (protection === 'guarded') {
    return [stepFor(finder, (request, reply, user) => {
      if (user === undefined) return refuse(reply, scheme)
      const verdict: unknown = policy.permits(user, operation)
      if (verdict !== true) throw forbidden(request, policy, verdict)
      request.setDecorator(kUser, user)
      return undefined
    })]
  }
  if (scopeRule === undefined || !knowsUsers(policy)) return []
  return [stepFor(finder, (request, reply, user) => {
    if (user !== undefined) request.setDecorator(kUser, user)
    else if (sendsCredentials(request, scheme)) return refuse(reply, scheme)
    return undefined
  })]
}

function forbidden ({ log }: FastifyRequest, policy: AnyPolicy, verdict: unknown): Error {
  ignoreRejection(verdict)
  if (typeof verdict !== 'boolean') {
    warnOnce(log, policy, "The function 'permits' of a policy must return true or false. It returned something else, " +
      'such as a promise, which counts as false')
  }
  return new errors.Forbidden()
}

/**
 * True if a request carries credentials of a scheme, right or wrong. For `apiKey`, this looks at the header or cookie
 * that the scheme names. For any other scheme, and without a scheme, it looks at the header Authorization alone: other
 * credentials, such as a session cookie, are not seen.
 */
function sendsCredentials ({ headers }: FastifyRequest, scheme: SecurityScheme | undefined): boolean {
  if (scheme?.type !== 'apiKey') return headers.authorization !== undefined
  const name = String(scheme['name'])
  return scheme['in'] === 'cookie'
    ? cookieNames(String(headers.cookie)).includes(name)
    : headers[name.toLowerCase()] !== undefined
}

function cookieNames (header: string): readonly string[] {
  return header.split(';').map((cookie) => cookie.split('=', 1).join().trim())
}

/** The function by which a policy finds users, and the engine whose failures it may throw. */
interface Finder extends Pick<Protected, 'engine'> {
  readonly authenticate: Authenticate
}

/**
 * Returns a step that looks for the user who sends a request, and then calls `judge`. The user is undefined if there is
 * none, or, with a warning in the log, if the user has no usable id, as {@link isUser} says. The step throws what the
 * policy throws, or REST_MODELS_UNAVAILABLE (503) if that is a failure of a database that cannot serve now.
 */
function stepFor (
  { authenticate, engine }: Finder,
  judge: (request: FastifyRequest, reply: FastifyReply, user: Identity | undefined) => ReturnType<Step>
): Step {
  const fail = (failure: unknown): never => { throw toHostError(engine.dialect, failure) }
  return (request, reply) => {
    const judgeFound = (found: Identity | null | undefined): ReturnType<Step> => {
      if (isUser(found)) return judge(request, reply, found)
      warnOfUnusable(request, authenticate, found)
      return judge(request, reply, undefined)
    }
    let found: Identity | null | undefined
    try {
      const result = authenticate(request, reply)
      if (isPromise(result)) return Promise.resolve(result).then(judgeFound, fail)
      found = result
    } catch (failure) {
      return fail(failure)
    }
    return judgeFound(found)
  }
}

/**
 * Logs a warning, once for each policy, if the policy has found a user whose id is not usable. Such a user counts as
 * not logged in.
 */
function warnOfUnusable (request: FastifyRequest, authenticate: Authenticate, user: unknown): void {
  if (user === null || user === undefined) return
  warnOnce(request.log, authenticate, 'A policy has found a user without a usable id, who counts as not logged in. ' +
    `The id must be a safe integer, or a text of 1 to ${maxIdLength} characters`)
}

/** Most UTF-16 units in the id of a user. A longer id is not usable. */
const maxIdLength = 255

/**
 * True if what a policy found is a user with a usable id: a safe integer, or a text of 1 to 255 UTF-16 units. A policy
 * in JavaScript may return any value; every other value counts as not logged in.
 */
function isUser (user: Identity | null | undefined): user is Identity {
  const id: unknown = user?.id
  return Number.isSafeInteger(id) || (typeof id === 'string' && id !== '' && id.length <= maxIdLength)
}

/**
 * Values of the header Sec-Fetch-Site with which {@link browserGuard} lets a write through: a request of the same
 * origin, or one that the user makes directly.
 */
const permittedFetchSites = ['same-origin', 'none']

/**
 * Returns a hook for writes. The hook refuses a write that a browser sends for a page of another origin, even of
 * another subdomain, with REST_MODELS_FORBIDDEN (403), if `allowedOrigins` does not name that origin. Without this, the
 * page could write in the name of the user, because browsers attach Basic credentials by themselves, and a form needs
 * no preflight. A request with neither Origin nor Sec-Fetch-Site is not from a browser, and is let through.
 *
 * @see https://www.w3.org/TR/fetch-metadata/ and RFC 6454, section 7
 */
export function browserGuard (allowedOrigins: readonly string[]): onRequestHookHandler {
  return (request, _reply, done) => {
    if (isPermittedOrigin(request, allowedOrigins)) return done()
    const { origin } = request.headers
    request.log.info({ origin: origin && shownName(origin) },
      'Refused a write that a browser sent for a page of another site. If that site is yours, ' +
      "name its origin in the option 'allowedOrigins'")
    done(new errors.Forbidden())
  }
}

function isPermittedOrigin (request: FastifyRequest, allowedOrigins: readonly string[]): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin !== undefined && allowedOrigins.includes(origin)) return true
  if (site !== undefined) return permittedFetchSites.includes(String(site))
  return origin === undefined || isOwnOrigin(origin, request)
}

/** The port that an origin leaves out, by the protocol. */
const defaultPorts = new Map([['http', ':80'], ['https', ':443']])

/**
 * True if an origin is that of the host of a request. Browsers write it in lower case, and without the port that the
 * protocol has by default; the header `Host` may have both.
 */
function isOwnOrigin (origin: string, { protocol, host }: FastifyRequest): boolean {
  const own = `${protocol}://${host.toLowerCase()}`
  return origin === own || `${origin}${defaultPorts.get(protocol)}` === own
}
