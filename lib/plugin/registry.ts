import type { FastifyInstance, HookHandlerDoneFunction } from 'fastify'
import { HealthCheck, type Health } from '../database/health.js'
import { errors } from '../errors.js'
import type { Model } from '../model/define-model.js'
import { operations, type Operation } from '../policy/operations.js'
import type { AnyPolicy, Policy } from '../policy/policy.js'
import { requireCreatable } from '../resource/creatable.js'
import type { ResourceOptions } from '../resource/options.js'
import { checkRegistration, type Registration } from '../resource/registration.js'
import type { Resource } from '../resource/resource.js'
import { guardHooks } from '../routes/guard-hooks.js'
import { suggestion } from '../suggest.js'
import { openContainer, type ServedResource } from './container.js'
import type { CheckedOptions } from './options.js'

/**
 * A preHandler hook that fits apps with any server, logger and type provider. Fastify has no type for the requests and
 * replies of all of them.
 */
export type GuardHook = (request: object, reply: object, done: HookHandlerDoneFunction) => void | Promise<unknown>

/**
 * The registries of each app, by its HTTP server. All scopes of an app share that server, however deep the plugin was
 * registered.
 */
const registries = new WeakMap<object, ResourceRegistry[]>()

/**
 * Collects the models that one registration of the plugin serves. After `setup()` it accepts no more models. If there
 * are models but `setup()` was not called, the app's `ready()` and `listen()` fail with REST_MODELS_NOT_SET_UP.
 */
export class ResourceRegistry {
  readonly #fastify: FastifyInstance
  readonly #options: CheckedOptions
  readonly #registrations: Registration[] = []
  readonly #served: ServedResource[] = []
  readonly #health: HealthCheck
  #isSetUp = false
  #isReady = false

  /**
   * Returns the compiled resources of all registries of an app. Those of a registry appear when its `setup()` is done.
   */
  static resourcesOf ({ server }: { readonly server: object }): readonly Resource[] {
    return (registries.get(server) ?? []).flatMap((registry) => registry.#served).map(({ resource }) => resource)
  }

  constructor (fastify: FastifyInstance, options: CheckedOptions) {
    this.#fastify = fastify
    this.#options = options
    this.#health = new HealthCheck(options.db, options.readDb)
    registries.set(fastify.server, [...registries.get(fastify.server) ?? [], this])
    fastify.addHook('onReady', async () => {
      this.#isReady = true
      this.#requireSetUp()
    })
  }

  /**
   * Registers a model as a resource. The resource has no endpoints before `setup()`.
   *
   * @returns the registry, for another registration
   * @throws REST_MODELS_INVALID_OPTIONS, REST_MODELS_UNKNOWN_OPTION_FIELD, REST_MODELS_DUPLICATE_RESOURCE,
   *   REST_MODELS_ALREADY_SET_UP
   */
  register<M extends Model, Auth extends AnyPolicy = Policy> (model: M, resource?: ResourceOptions<M, Auth>): this
  register (model: Model, resource: ResourceOptions = {}): this {
    if (this.#isSetUp) {
      throw new errors.AlreadySetUp(
        `Model '${model.name}' is registered after setup(); register all models before it`)
    }
    this.#requireNotReady(`Model '${model?.name}' was registered`)
    const registration = checkRegistration(model, resource, this.#options)
    requireCreatable(registration)
    const other = this.#registrations.find(({ name }) => name === registration.name)
    if (other !== undefined) {
      throw new errors.DuplicateResource(
        `Models '${other.model.name}' and '${model.name}' would both be resource '${registration.name}'; ` +
        "give one of them another 'path'")
    }
    this.#registrations.push(registration)
    return this
  }

  /**
   * Checks all registered models against the database. Then adds their routes to the scope in which the plugin was
   * registered.
   *
   * @throws REST_MODELS_ALREADY_SET_UP, REST_MODELS_TABLE_MISMATCH, REST_MODELS_UNSUPPORTED_DATABASE,
   *   REST_MODELS_INVALID_MODEL; REST_MODELS_INVALID_OPTIONS if a policy gives no function that finds users
   */
  async setup (): Promise<void> {
    if (this.#isSetUp) {
      throw new errors.AlreadySetUp('setup() was called twice; call it once, after the last register()')
    }
    this.#requireNotReady('setup() was called')
    this.#isSetUp = true
    const container =
      openContainer(this.#registrations, this.#options, (served) => { this.#served.push(served) })
    await this.#fastify.register(container, { prefix: this.#options.prefix })
  }

  /**
   * Returns preHandler hooks that protect a route of the host like an operation of a resource. They refuse requests
   * that a browser sends for a page of another origin (403), except GET and HEAD without the header `Upgrade`, and
   * answer 401 and 403 as the policy says. For an operation on one record, on a path with `:id`, they also answer 404
   * if the record does not exist or the user may not see it, and 403 if the operation is a write and the user is not
   * the owner. After these hooks, `userOf(request)` is the user. For an operation that anybody may do, it is null if
   * nobody is logged in or the resource has no scope.
   *
   * @param resource  a registered model, or the path of a resource if its model is registered several times
   * @throws REST_MODELS_NOT_SET_UP before `setup()`; REST_MODELS_INVALID_OPTIONS if there is no such resource or
   *   operation, or if `resource` is a model that is registered several times
   */
  guard (resource: Model | string, operation: Operation): GuardHook[] {
    const isEmpty = this.#isSetUp && this.#registrations.length === 0
    if (!isEmpty && this.#served.length === 0) {
      throw new errors.NotSetUp('guard() was called before setup(): call it afterwards')
    }
    if (!operations.includes(operation)) {
      const remedy = suggestion(operation, operations) || `: name one of ${operations.join(', ')}`
      throw new errors.InvalidOptions(`guard() knows no operation '${operation}'${remedy}`)
    }
    const served = this.#servedAs(resource)
    const { allowedOrigins } = this.#options
    return guardHooks(served.resource, operation, { ...served, allowedOrigins }) as GuardHook[]
  }

  /**
   * Returns the state of the databases: whether `db` accepts writes, and how many seconds `readDb` is behind. Never
   * rejects, and takes about a second at most. It takes a connection from a pool only if the Kysely instance was not
   * opened by a function of this package. Calls within 250 ms after an answer get the same one, so you may call it as
   * often as you like, even before `setup()`.
   */
  async health (): Promise<Health> {
    return await this.#health.read()
  }

  #servedAs (wanted: Model | string): ServedResource {
    const found = this.#served.filter(({ resource: { name, model } }) => wanted === name || wanted === model)
    const [served, ...others] = found
    const name = typeof wanted === 'string' ? wanted : wanted?.name
    if (served === undefined) {
      const names = this.#served.map(({ resource }) => resource.name)
      const remedy = suggestion(name, names) || ': register it before setup()'
      throw new errors.InvalidOptions(`guard() knows no resource '${name}'${remedy}`)
    }
    if (others.length > 0) {
      const names = found.map(({ resource }) => `'${resource.name}'`).join(', ')
      throw new errors.InvalidOptions(
        `Model '${name}' has several resources (${names}): give guard() the path of one of them`)
    }
    return served
  }

  #requireNotReady (what: string): void {
    if (this.#isReady) {
      throw new errors.AlreadySetUp(
        `${what} after the app was ready, when Fastify adds no more routes: do it before ready() and listen()`)
    }
  }

  #requireSetUp (): void {
    if (this.#isSetUp || this.#registrations.length === 0) return
    const models = this.#registrations.map(({ model }) => `'${model.name}'`).join(', ')
    throw new errors.NotSetUp(
      `Models are registered (${models}), but they have no endpoints: ` +
      `call 'await app.${this.#options.decorator}.setup()' before listening`)
  }
}
