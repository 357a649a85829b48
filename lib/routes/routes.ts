import type {
  FastifyInstance, HTTPMethods, onRequestHookHandler, onSendHookHandler, preHandlerHookHandler, RouteHandlerMethod,
  RouteOptions
} from 'fastify'
import type { Scheduler } from '../plugin/scheduling/scheduler.js'
import { afterChecks, hookOf, policyStep } from '../policy/guard.js'
import { recordStep } from '../policy/owner.js'
import { operations, operationTable, rowOf, writes, type Operation } from '../policy/operations.js'
import { knowsUsers } from '../policy/policies.js'
import type { Authenticate } from '../policy/policy.js'
import type { Resource } from '../resource/resource.js'
import { itemAt, keysOf } from '../values/lookup.js'
import { describeRefusal, describeRoute, describeTwin, type RouteDescription } from './describe-route.js'
import { create, list, read, refuseMethod, remove, update, type Handler } from './handlers.js'

/** Properties of an operation's route that its row in {@link operationTable} does not have. */
interface RouteRow {
  readonly handler: Handler<unknown>
  /**
   * True if a hook reads the record before the handler, and answers 404 if there is none, or 403 if another user owns
   * it.
   */
  readonly needsRecord: boolean
}

const routeTable: Readonly<Record<Operation, RouteRow>> = {
  list: { handler: list, needsRecord: false },
  create: { handler: create, needsRecord: false },
  read: { handler: read, needsRecord: false },
  update: { handler: update, needsRecord: true },
  delete: { handler: remove, needsRecord: true }
}

const suffixes = { list: '/', record: '/:id/' } as const

/** Methods that the routes of a resource answer: with an operation, or with 405. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * The checks before the handlers, the scheduler, and a function for a warning. All resources share them, except
 * `authenticate`, which depends on the policy.
 */
interface Guards {
  readonly authenticate: Authenticate
  /** Refuses a write that a browser sends for a page of another origin. */
  readonly refuseForeign: onRequestHookHandler
  readonly scheduler: Scheduler
  /** Called when somebody asks for a document in Swagger 2.0. */
  readonly noteSwagger2: () => void
}

/** Adds the routes of a resource below the scope's prefix. */
export function addRoutes (scope: FastifyInstance, resource: Resource, guards: Guards): void {
  for (const operation of keysOf(operationTable)) addOperation(scope, resource, operation, guards)
  for (const path of ['list', 'record'] as const) addRefusals(scope, resource, path, guards)
}

function addOperation (scope: FastifyInstance, resource: Resource, operation: Operation, guards: Guards): void {
  const { methods, path } = rowOf(operation)
  const { handler, needsRecord } = routeTable[operation]
  const { onRequest, preHandler, onSend, wrap, checks } = stepsOf(resource, operation, guards)
  const steps = {
    onRequest,
    preHandler: needsRecord ? [...preHandler, hookOf(recordStep(resource))] : preHandler,
    onSend,
    handler: wrap(afterChecks(checks, handler(resource)))
  }
  for (const method of methods) {
    const description = describeRoute(resource, operation, guards.noteSwagger2)
    addRoute(scope, `/${resource.name}${suffixes[path]}`, { method, ...steps, ...description })
  }
}

/**
 * Adds the route that answers all other {@link methods} of a path with 405. Before that, the policy must permit the
 * path's first write: create for the list, update for a record. So under the read-only policy, these methods are
 * answered with 401, too, as the specification of the REST API demands.
 */
function addRefusals (scope: FastifyInstance, resource: Resource, path: 'list' | 'record', guards: Guards): void {
  const onPath = operations.filter((operation) => rowOf(operation).path === path)
  const answered = onPath.flatMap((operation) => [...rowOf(operation).methods])
    .flatMap((method) => method === 'GET' ? ['GET', 'HEAD'] : [method])
  const judgedAs = itemAt(onPath.filter((operation) => writes.includes(operation)), 0)
  const { onRequest, preHandler, onSend } = stepsOf(resource, judgedAs, guards)
  addRoute(scope, `/${resource.name}${suffixes[path]}`, {
    onRequest,
    preHandler,
    onSend,
    method: methods.filter((method) => !answered.includes(method)),
    handler: refuseMethod(answered.join(', ')),
    ...describeRefusal(resource, judgedAs)
  })
}

/**
 * Returns the steps around the handler of an operation: for a write, the check of the request's origin; the hooks and
 * the wrapper of the scheduler, which decides when requests go on; and the checks of the policy.
 */
function stepsOf (resource: Resource, operation: Operation, { authenticate, refuseForeign, scheduler }: Guards) {
  const { protections: { [operation]: protection }, policy, scopeRule } = resource
  // An open operation on a resource with a scope checks passwords too, if they are sent, so it waits with guarded ones.
  const checksUsers = scopeRule !== undefined && protection === 'open' && knowsUsers(policy)
  const schedule = scheduler.scheduleOf(operation, checksUsers ? 'guarded' : protection)
  const step = policyStep(resource, authenticate, operation)
  const preHandler = [...schedule.preHandler, ...step === undefined ? [] : [hookOf(step)]]
  const onRequest = writes.includes(operation) ? [refuseForeign] : []
  return { ...schedule, onRequest, preHandler, checks: { step, hasOrigin: onRequest.length > 0 } }
}

interface RouteParts extends RouteDescription {
  readonly onRequest: readonly onRequestHookHandler[]
  readonly preHandler: readonly preHandlerHookHandler[]
  readonly onSend: readonly onSendHookHandler[]
  readonly method: HTTPMethods | HTTPMethods[]
  readonly handler: RouteHandlerMethod
}

/**
 * Adds a route with and without the final slash. A redirect instead would lose request bodies. If Fastify ignores final
 * slashes, one route is enough.
 */
function addRoute (scope: FastifyInstance, url: string, parts: RouteParts): void {
  scope.route(optionsOf(url, parts))
  if (!ignoresSlash(scope)) scope.route(optionsOf(url.slice(0, -1), { ...parts, ...describeTwin(parts) }))
}

/**
 * Returns the options of a route. The application's onRoute hooks add to the lists in the options. Two routes must not
 * share a list, or each hook would add to that list twice. So getters make the lists: Fastify copies the options for
 * each route that it adds, and adds a HEAD route for a GET.
 */
function optionsOf (url: string, { onRequest, preHandler, onSend, config, ...rest }: RouteParts): RouteOptions {
  return {
    ...rest,
    url,
    get onRequest () { return [...onRequest] },
    get preHandler () { return [...preHandler] },
    get onSend () { return [...onSend] },
    get config () { return { ...config } },
    exposeHeadRoute: rest.method === 'GET'
  }
}

function ignoresSlash ({ initialConfig }: FastifyInstance): boolean {
  return (initialConfig.routerOptions?.ignoreTrailingSlash ?? initialConfig.ignoreTrailingSlash) === true
}
