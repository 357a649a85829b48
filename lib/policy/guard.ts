import type { FastifyReply, FastifyRequest, preHandlerHookHandler } from 'fastify'
import type { Engine } from '../database/engine.js'
import { toHostError } from '../database/host-failure.js'
import { errors } from '../errors.js'
import { ignoreRejection } from '../values/promises.js'
import { isPromise } from '../values/values.js'
import type { Operation } from './operations.js'
import { kOrigin } from './origin.js'
import { knowsUsers } from './policies.js'
import type { AnyPolicy, Authenticate, Identity, PolicyUser } from './policy.js'
import type { Protections } from './protection.js'
import { refuse } from './refusal.js'
import { sendsCredentials } from './sent-credentials.js'
import { warnOnce } from './warn-once.js'

/** Key under which a request keeps the user who sent it. */
export const kUser = Symbol('rest-models.user')

/** Key under which a request keeps the step of a policy that it has passed. */
export const kPassed = Symbol('rest-models.passed')

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
  /** The related models that not everybody may see or list, and what the resource calls with the user in its writes. */
  readonly relatedScopes: ReadonlyMap<unknown, unknown>
  readonly guardedModels: ReadonlyMap<unknown, unknown>
  readonly hooked: unknown
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
 * Returns the step that applies a policy before an operation. The user whom it finds is that of {@link userOf}:
 *
 * - Nobody may do the operation: the step answers 401, as the service document demands for its read-only policy.
 * - The operation needs a user: the step looks for the user. It answers 401 if there is none, and 403 if the policy
 *   does not permit the operation to the user.
 * - Anybody may do the operation: the step looks for the user if the resource has a scope and the policy knows users.
 *   It answers 401 to wrong credentials. Otherwise it forgets the user whom a guard of the host may have found. There
 *   is no step if the answer cannot depend on the user.
 */
export function policyStep (resource: Protected, authenticate: Authenticate, operation: Operation): Step | undefined {
  const { policy, policy: { scheme }, protections: { [operation]: protection } } = resource
  const { scopeRule, relatedScopes, guardedModels, hooked } = resource
  if (protection === 'closed') return (_request, reply) => refuse(reply, scheme)
  if (protection === 'guarded') {
    return stepFor(resource, authenticate, (request, reply, user) => {
      if (user === undefined) return refuse(reply, scheme)
      const verdict: unknown = policy.permits(user, operation)
      if (verdict !== true) throw forbidden(request, policy, verdict)
      return undefined
    })
  }
  if (scopeRule !== undefined && knowsUsers(policy)) {
    return stepFor(resource, authenticate, (request, reply, user) =>
      user === undefined && sendsCredentials(request, scheme) ? refuse(reply, scheme) : undefined)
  }
  const dependsOnUser = (scopeRule ?? hooked) !== undefined || relatedScopes.size + guardedModels.size > 0
  return dependsOnUser ? forgetUser : undefined
}

const forgetUser: Step = (request) => keep(request, undefined, forgetUser)

interface Passed {
  readonly [kPassed]?: Step
  readonly [kOrigin]?: true
}

/** The checks that a request to a route must have passed. */
export interface Checks {
  readonly step: Step | undefined
  /** True if the origin is checked, as it is for a write. */
  readonly hasOrigin: boolean
}

/**
 * Returns the same handler, which fails if a request has skipped a check of its route. If a hook of the host throws
 * null or undefined, Fastify goes on to the handler, past all hooks that follow.
 */
export function afterChecks<Result> (
  { step, hasOrigin }: Checks, handle: (request: FastifyRequest, reply: FastifyReply) => Result
): typeof handle {
  if (step === undefined && !hasOrigin) return handle
  return (request, reply) => {
    // Fastify's getDecorator() would return a bound copy of the function.
    const { [kPassed]: passed, [kOrigin]: isFromHere } = request as Passed
    if ((step === undefined || passed === step) && (!hasOrigin || isFromHere === true)) return handle(request, reply)
    throw new Error('A hook of the application threw null or undefined, so that Fastify skipped the hooks that ' +
      'follow, those of the policy among them: throw an Error')
  }
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
 * Returns a step that looks for the user who sends a request, and then calls `judge`, which returns undefined to let
 * the request pass. The user is undefined if there is none, or, with a warning in the log, if the user has no usable
 * id. The step throws what the policy throws, or REST_MODELS_UNAVAILABLE (503) if that is a failure of a database that
 * cannot serve now.
 */
function stepFor (
  { engine }: Pick<Protected, 'engine'>, authenticate: Authenticate,
  judge: (request: FastifyRequest, reply: FastifyReply, user: Identity | undefined) => ReturnType<Step>
): Step {
  const fail = (failure: unknown): never => { throw toHostError(engine.dialect, failure) }
  const step: Step = (request, reply) => {
    const judgeFound = (found: Identity | null | undefined): ReturnType<Step> => {
      const user = Number.isSafeInteger(found?.id) || isUsableText(found?.id) ? found as Identity : undefined
      if (user === undefined) warnOfUnusable(request, authenticate, found)
      return judge(request, reply, user) ?? keep(request, user, step)
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
  return step
}

/** Keeps in a request its user, and the step that let it pass, for {@link userOf} and {@link afterChecks}. */
function keep (request: FastifyRequest, user: Identity | undefined, step: Step): undefined {
  request.setDecorator(kUser, user)
  request.setDecorator(kPassed, step)
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

function isUsableText (id: unknown): boolean {
  return typeof id === 'string' && id !== '' && id.length <= maxIdLength
}
