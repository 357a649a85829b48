import type { TSchema } from '@sinclair/typebox'
import type {
  FastifyContextConfig, FastifyInstance, FastifySchema, HTTPMethods, preHandlerAsyncHookHandler, preHandlerHookHandler,
  RouteHandlerMethod, onSendHookHandler
} from 'fastify'
import { emptySchema } from '../../schemas/empty.js'
import { errorSchema } from '../../schemas/error.js'
import { keySchema } from '../../schemas/key.js'
import { envelopeSchema } from '../../schemas/list.js'
import { documentedAs, sharesPartsOf, undocumented } from '../openapi/transform.js'
import type { RequestQueue } from '../plugin/scheduling/request-queue.js'
import type { ResponseBatcher } from '../plugin/scheduling/response-batcher.js'
import { policyHooks } from '../policy/guard.js'
import { recordHook } from '../policy/owner.js'
import { reads, type Authenticate, type Operation, type Policy } from '../policy/policy.js'
import type { Resource } from '../resource/resource.js'
import { create, list, read, refuseMethod, remove, update, type Handler } from './handlers.js'
import { keepingSlot, leavingFor, waitingIn } from './queue-hooks.js'

/** A row of the route table. The policy is applied to all rows in the same way. */
interface RouteRow {
  readonly method: HTTPMethods
  readonly path: 'list' | 'record'
  readonly status: number
  /** Schema of the body, if the route reads one. */
  readonly body?: 'create' | 'update'
  answer (schemas: Resource['schemas']): TSchema
  /** True if a hook reads the record before the handler, for 404 and the owner rule. */
  readonly needsRecord: boolean
  readonly handler: Handler<unknown>
}

const record: RouteRow['answer'] = (schemas) => schemas.record

/** The five routes of the service document, "Endpoints". */
const routeTable = {
  list: {
    method: 'GET',
    path: 'list',
    status: 200,
    answer: (schemas) => envelopeSchema(schemas.record),
    needsRecord: false,
    handler: list
  },
  create: {
    method: 'POST', path: 'list', status: 201, body: 'create', answer: record, needsRecord: false, handler: create
  },
  read: { method: 'GET', path: 'record', status: 200, answer: record, needsRecord: false, handler: read },
  update: {
    method: 'PUT', path: 'record', status: 200, body: 'update', answer: record, needsRecord: true, handler: update
  },
  delete: {
    method: 'DELETE', path: 'record', status: 204, answer: () => emptySchema, needsRecord: true, handler: remove
  }
} as const satisfies Record<Operation, RouteRow>

/** Paths of a resource. `others` are methods that a path refuses with 405, under the policy of `judgedAs`. */
const paths = {
  list: { suffix: '/', allowed: 'GET, HEAD, POST', judgedAs: 'create', others: ['PUT', 'PATCH', 'DELETE'] },
  record: { suffix: '/:id/', allowed: 'GET, HEAD, PUT, DELETE', judgedAs: 'update', others: ['POST', 'PATCH'] }
} as const satisfies Record<
  RouteRow['path'], { suffix: string, allowed: string, judgedAs: Operation, others: HTTPMethods[] }
>

/** Queues in which requests wait before an open operation, or before the policy runs. A closed operation has none. */
export type Queues = Readonly<Record<'open' | 'guardedReads' | 'guardedWrites', RequestQueue>>

/** The steps before and after the handlers. */
interface Guards {
  readonly authenticate: Authenticate
  readonly queues: Queues
  readonly batcher: ResponseBatcher
}

/** Adds the routes of a resource below the scope's prefix. */
export function addRoutes (
  scope: FastifyInstance, resource: Resource, { authenticate, queues, batcher }: Guards
): void {
  const { registration: { name, policy, config } } = resource
  const guardsOf = (operation: Operation): Hooks =>
    [...waitingIn(queueOf(policy, operation, queues)), ...policyHooks(policy, authenticate, operation)]
  for (const [operation, row] of Object.entries<RouteRow>(routeTable)) {
    const queue = queueOf(policy, operation as Operation, queues)
    const handler = keepingSlot(queue, row.handler(resource))
    const preHandler = guardsOf(operation as Operation)
    if (row.needsRecord) preHandler.push(recordHook(resource.engine, resource.write))
    addRoute(scope, `/${name}${paths[row.path].suffix}`, {
      method: row.method,
      handler: async (request, reply) => {
        const answer = await handler(request, reply.code(row.status))
        await batcher.wait()
        return answer
      },
      preHandler,
      onSend: leavingFor(queue),
      schema: schemaOf(row, resource),
      config: { ...documentedAs(resource, operation as Operation), ...config }
    })
  }
  for (const { suffix, allowed, judgedAs, others } of Object.values(paths)) {
    addRoute(scope, `/${name}${suffix}`, {
      method: [...others],
      handler: refuseMethod(allowed),
      preHandler: guardsOf(judgedAs),
      onSend: leavingFor(queueOf(policy, judgedAs, queues)),
      // Each route gets a copy, because a hook of the host may change it.
      schema: hidden({ response: { ...failures } }),
      config: { ...config, ...sharesPartsOf(resource) }
    })
  }
}

function queueOf ({ open, closed }: Policy, operation: Operation, queues: Queues): RequestQueue | undefined {
  if (open.includes(operation)) return queues.open
  if (closed?.includes(operation) === true) return undefined
  return reads.includes(operation) ? queues.guardedReads : queues.guardedWrites
}

type Hooks = Array<preHandlerHookHandler | preHandlerAsyncHookHandler>

interface RouteParts {
  readonly method: HTTPMethods | HTTPMethods[]
  readonly handler: RouteHandlerMethod
  readonly preHandler: Readonly<Hooks>
  readonly onSend: readonly onSendHookHandler[]
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

/** Copies the options for one route. onRoute hooks of the host add to them, which must not happen twice to one list. */
function optionsOf ({ preHandler, onSend, config, ...rest }: RouteParts) {
  const exposeHeadRoute = rest.method === 'GET'
  return { ...rest, preHandler: [...preHandler], onSend: [...onSend], config: { ...config }, exposeHeadRoute }
}

/** Hides a route from documentation, which shows each route once. */
function hidden (schema: FastifySchema): FastifySchema {
  return { ...schema, ...{ hide: true } }
}

function ignoresSlash ({ initialConfig }: FastifyInstance): boolean {
  return (initialConfig.routerOptions?.ignoreTrailingSlash ?? initialConfig.ignoreTrailingSlash) === true
}

const failures = { '4xx': errorSchema, '5xx': errorSchema }

function schemaOf (
  { path, status, body, answer }: RouteRow, { schemas, registration: { model } }: Resource
): FastifySchema {
  return {
    ...(path === 'record' && { params: keySchema(model) }),
    ...(body && { body: schemas[body] }),
    response: { [status]: answer(schemas), ...failures }
  }
}
