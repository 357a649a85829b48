import type {
  FastifyContextConfig, FastifyInstance, FastifySchema, HTTPMethods, onRequestHookHandler, onSendHookHandler,
  preHandlerAsyncHookHandler, preHandlerHookHandler, RouteHandlerMethod
} from 'fastify'
import { emptySchema } from '../../schemas/empty.js'
import { errorSchema } from '../../schemas/error.js'
import { keySchema } from '../../schemas/key.js'
import { envelopeSchema } from '../../schemas/list.js'
import { documentedAs, sharesPartsOf, undocumented } from '../openapi/transform.js'
import type { Scheduler } from '../plugin/scheduling/scheduler.js'
import { policyHooks } from '../policy/guard.js'
import { isPrivate, privateConfig } from '../policy/no-store.js'
import { recordHook } from '../policy/owner.js'
import { operationTable, rowOf, writes, type Operation } from '../policy/operations.js'
import type { Authenticate } from '../policy/policy.js'
import type { Resource } from '../resource/resource.js'
import { create, list, read, refuseMethod, remove, update, type Handler } from './handlers.js'

/** Properties of an operation's route that its row in {@link operationTable} does not have. */
interface RouteRow {
  readonly handler: Handler<unknown>
  /** True if a hook reads the record before the handler, for 404 and the owner rule. */
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

/** Methods that a resource answers, by itself or with 405. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Checks that run before the handlers of a resource, and the scheduler. */
interface Guards {
  readonly authenticate: Authenticate
  /** Refuses a write that a browser sends for another site. */
  readonly refuseForeign: onRequestHookHandler
  readonly scheduler: Scheduler
}

/** Adds the routes of a resource below the scope's prefix. */
export function addRoutes (scope: FastifyInstance, resource: Resource, guards: Guards): void {
  for (const operation of Object.keys(operationTable) as Operation[]) addOperation(scope, resource, operation, guards)
  for (const path of ['list', 'record'] as const) addRefusals(scope, resource, path, guards)
}

function addOperation (scope: FastifyInstance, resource: Resource, operation: Operation, guards: Guards): void {
  const { method, path } = rowOf(operation)
  const { handler, needsRecord } = routeTable[operation]
  const { onRequest, preHandler, onSend, wrap } = stepsOf(resource, operation, guards)
  addRoute(scope, `/${resource.name}${suffixes[path]}`, {
    method,
    onRequest,
    preHandler: needsRecord ? [...preHandler, recordHook(resource)] : preHandler,
    onSend,
    handler: wrap(handler(resource)),
    ...documentationOf(operation, resource)
  })
}

/**
 * Returns the schema and the `config` of an operation's route. Documentation leaves out what nobody may do.
 */
function documentationOf (operation: Operation, resource: Resource): Pick<RouteParts, 'schema' | 'config'> {
  const schema = schemaOf(operation, resource)
  const config = { ...privacyOf(resource, operation), ...resource.config }
  return resource.protections[operation] === 'closed'
    ? { schema: hidden(schema), config: { ...config, ...undocumented } }
    : { schema, config: { ...documentedAs(resource, operation), ...config } }
}

/**
 * Adds the route that answers all other methods of a path with 405. Before that, the policy must permit the path's
 * first write: create for the list, update for a record.
 */
function addRefusals (scope: FastifyInstance, resource: Resource, path: 'list' | 'record', guards: Guards): void {
  const rows = Object.entries(operationTable).filter(([, row]) => row.path === path)
  const answered = rows.flatMap(([, { method }]) => method === 'GET' ? ['GET', 'HEAD'] : [method])
  const [judgedAs] = rows.map(([operation]) => operation as Operation).filter((operation) => writes.includes(operation))
  const { onRequest, preHandler, onSend } = stepsOf(resource, judgedAs as Operation, guards)
  addRoute(scope, `/${resource.name}${suffixes[path]}`, {
    onRequest,
    preHandler,
    onSend,
    method: methods.filter((method) => !answered.includes(method)),
    handler: refuseMethod(answered.join(', ')),
    // Each route gets a copy, because a hook of the host may change it.
    schema: hidden({ response: { ...failures } }),
    config: { ...privacyOf(resource, judgedAs as Operation), ...resource.config, ...sharesPartsOf(resource) }
  })
}

function privacyOf (resource: Resource, operation: Operation): object {
  return isPrivate(resource, operation) ? privateConfig : {}
}

type PreHandlers = ReadonlyArray<preHandlerHookHandler | preHandlerAsyncHookHandler>

/** Returns the steps around the handler of an operation: the check of its origin, its schedule, and its policy. */
function stepsOf (resource: Resource, operation: Operation, { authenticate, refuseForeign, scheduler }: Guards) {
  const { protections: { [operation]: protection }, scopeRule } = resource
  // An open operation on a resource with a scope checks passwords too, if they are sent.
  const checksUsers = scopeRule !== undefined && protection === 'open'
  const schedule = scheduler.scheduleOf(operation, checksUsers ? 'guarded' : protection)
  const preHandler: PreHandlers = [...schedule.preHandler, ...policyHooks(resource, authenticate, operation)]
  return { ...schedule, onRequest: writes.includes(operation) ? [refuseForeign] : [], preHandler }
}

interface RouteParts {
  readonly onRequest: readonly onRequestHookHandler[]
  readonly preHandler: PreHandlers
  readonly onSend: readonly onSendHookHandler[]
  readonly method: HTTPMethods | HTTPMethods[]
  readonly handler: RouteHandlerMethod
  readonly config: Readonly<FastifyContextConfig>
  readonly schema: FastifySchema
}

/** Adds a route with and without the final slash. A redirect instead would lose request bodies. */
function addRoute (scope: FastifyInstance, url: string, parts: RouteParts): void {
  scope.route({ ...optionsOf(parts), url })
  if (ignoresSlash(scope)) return
  const { schema, config } = parts
  const hiddenParts = { ...parts, schema: hidden(schema), config: { ...config, ...undocumented } }
  scope.route({ ...optionsOf(hiddenParts), url: url.slice(0, -1) })
}

/**
 * Returns a copy of the options for one route. The host's onRoute hooks add to the lists in the options. Two routes
 * must not share a list, or each hook would add to that list twice.
 */
function optionsOf ({ onRequest, preHandler, onSend, config, ...rest }: RouteParts) {
  return {
    ...rest,
    // Fastify gives the same list to the route for HEAD, so a GET has none.
    ...(onRequest.length > 0 && { onRequest: [...onRequest] }),
    preHandler: [...preHandler],
    onSend: [...onSend],
    config: { ...config },
    exposeHeadRoute: rest.method === 'GET'
  }
}

/** Hides a route from documentation, which shows each route once. */
function hidden (schema: FastifySchema): FastifySchema {
  return { ...schema, ...{ hide: true } }
}

function ignoresSlash ({ initialConfig }: FastifyInstance): boolean {
  return (initialConfig.routerOptions?.ignoreTrailingSlash ?? initialConfig.ignoreTrailingSlash) === true
}

const failures = { '4xx': errorSchema, '5xx': errorSchema }

function schemaOf (operation: Operation, { schemas, model }: Resource): FastifySchema {
  const { path, status, takes, answers } = rowOf(operation)
  const answer = { list: envelopeSchema(schemas.record), record: schemas.record, none: emptySchema }
  return {
    ...(path === 'record' && { params: keySchema(model) }),
    ...(takes && { body: schemas[takes] }),
    response: { [status]: answer[answers ?? 'none'], ...failures }
  }
}
