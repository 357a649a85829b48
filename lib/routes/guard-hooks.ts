import type { FastifyRequest, preHandlerAsyncHookHandler, preHandlerHookHandler } from 'fastify'
import { kUser, policyStep, userOf, type Step } from '../policy/guard.js'
import { rowOf, writes, type Operation } from '../policy/operations.js'
import { browserGuard } from '../policy/origin.js'
import { readOwnRecord, readRecord } from '../policy/owner.js'
import type { Authenticate, Identity } from '../policy/policy.js'
import { isPrivate } from '../policy/visibility.js'
import { warnOnce } from '../policy/warn-once.js'
import type { Resource } from '../resource/resource.js'
import { passOn } from '../response/failure.js'

/** The function that finds the user of a request, and the foreign origins whose pages may send writes. */
interface GuardSetting {
  readonly authenticate: Authenticate
  readonly allowedOrigins: readonly string[]
}

/**
 * Returns preHandler hooks for a route that the application itself adds. They check a request to this route like one
 * for an operation of a resource: its origin, the policy, and, for an operation on one record, the record. `guard()` of
 * the registry returns these hooks.
 */
export function guardHooks (
  resource: Resource, operation: Operation, { authenticate, allowedOrigins }: GuardSetting
): Array<preHandlerHookHandler | preHandlerAsyncHookHandler> {
  return [
    ...isPrivate(resource, operation) ? [forbidCaching] : [],
    passingOn(setUserAside),
    refuseForeign(allowedOrigins),
    ...[policyStep(resource, authenticate, operation), guardedRecordStep(resource, operation)]
      .filter((step) => step !== undefined).map(passingOn),
    restoreUser
  ]
}

const forbidCaching: preHandlerHookHandler = (_request, reply, done) => {
  reply.header('cache-control', 'no-store')
  done()
}

/**
 * The user whom an earlier guard of the same route has found. {@link setUserAside} writes it before the next guard
 * looks for a user; {@link restoreUser} reads it if that guard finds none.
 */
const earlier = new WeakMap<FastifyRequest, Identity>()

/**
 * Sets aside, for {@link restoreUser}, the user whom an earlier guard of the same route has found: the policy of this
 * guard may know other users. Throws an Error, which becomes a 500, if the route lies outside of the plugin's scope,
 * because requests there have no property for the user.
 */
const setUserAside: Step = (request) => {
  if (!(kUser in request)) {
    throw new Error(`The route '${request.routeOptions.url}' has a guard, but lies outside of the scope in which the ` +
      'plugin was registered: register the plugin where the route is, or around it')
  }
  const user = userOf<Identity>(request)
  if (user !== null) earlier.set(request, user)
  request.setDecorator(kUser, undefined)
  return undefined
}

/** Gives the handler the user of an earlier guard if this guard has found none. */
const restoreUser: preHandlerHookHandler = (request, _reply, done) => {
  if (userOf(request) === null) request.setDecorator(kUser, earlier.get(request))
  done()
}

/**
 * Returns a hook for a route of the application. The hook refuses requests that a browser sends for a page of another
 * origin, as {@link browserGuard} does. GET and HEAD requests pass, even if the route is guarded like a write. Those
 * that open a WebSocket do not: browsers send credentials with such a request, and let any page read the messages.
 */
function refuseForeign (allowedOrigins: readonly string[]): preHandlerHookHandler {
  const guard = browserGuard(allowedOrigins)
  return function (request, reply, done) {
    if (['GET', 'HEAD'].includes(request.method) && request.headers.upgrade === undefined) done()
    else guard.call(this, request, reply, done)
  }
}

/**
 * Returns a hook that fails as routes of a resource do: an error without a status becomes a 500 that does not reveal
 * its cause.
 */
function passingOn (step: Step): preHandlerAsyncHookHandler {
  return async (request, reply) => {
    try {
      return await step(request, reply)
    } catch (error) {
      return passOn(error, request)
    }
  }
}

/**
 * Returns a step that reads the record and refuses with 404 if there is none or the user may not see it; for a write,
 * also with 403 if the user is not the owner. The handler then finds the id in `request.params.id` in the form that
 * records show: a client may write a UUID in capital letters. On a path without `:id` the step checks nothing, and logs
 * a warning, once, if the path has other parameters. Returns undefined if the operation is not on one record.
 */
function guardedRecordStep (resource: Resource, operation: Operation): Step | undefined {
  if (rowOf(operation).path !== 'record') return undefined
  // The route's handler knows only `request.params.id`, so the guard must not read the URL.
  const named = { ...resource, parseKey: (id: unknown) => resource.parseKey(id, '') }
  const read = writes.includes(operation) ? readOwnRecord : readRecord
  return async (request) => {
    const params = Object(request.params) as { id?: unknown }
    if (!Object.hasOwn(params, 'id')) {
      if (Object.keys(params).length > 0) warnOnce(request.log, named, whyUnchecked(request, resource))
      return
    }
    const { id } = await read(request, named)
    if (typeof params.id === 'string') params.id = String(id)
  }
}

function whyUnchecked ({ routeOptions: { url } }: FastifyRequest, { name }: Resource): string {
  return `A guard of resource '${name}' checks no record on '${url}', because the path has no parameter ':id'. ` +
    "If the record's id is in the path, call its parameter ':id'"
}
