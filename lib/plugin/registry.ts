import type { FastifyInstance } from 'fastify'
import { errors } from '../errors.js'
import type { Model } from '../model/define-model.js'
import type { ResourceOptions } from '../resource/options.js'
import { checkRegistration, type Registration } from '../resource/registration.js'
import type { Resource } from '../resource/resource.js'
import { openContainer } from './container.js'
import type { CheckedOptions } from './options.js'

/**
 * The registries of each app, by its HTTP server. All scopes of an app share that server, however deep the plugin was
 * registered.
 */
const registries = new WeakMap<object, ResourceRegistry[]>()

/** Collects the models that one registration of the plugin serves. After `setup()` it accepts no more models. */
export class ResourceRegistry {
  readonly #fastify: FastifyInstance
  readonly #options: CheckedOptions
  readonly #registrations: Registration[] = []
  readonly #resources: Resource[] = []
  #isSetUp = false
  #isReady = false

  /**
   * Returns the compiled resources of all registries of an app. Those of a registry appear when its `setup()` is done.
   */
  static resourcesOf ({ server }: Pick<FastifyInstance, 'server'>): readonly Resource[] {
    return (registries.get(server) ?? []).flatMap((registry) => registry.#resources)
  }

  constructor (fastify: FastifyInstance, options: CheckedOptions) {
    this.#fastify = fastify
    this.#options = options
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
  register<M extends Model> (model: M, resource?: ResourceOptions<M>): this
  register (model: Model, resource: ResourceOptions = {}): this {
    if (this.#isSetUp) {
      throw new errors.AlreadySetUp(
        `Model '${model.name}' is registered after setup(); register all models before it`)
    }
    this.#requireNotReady(`Model '${model?.name}' was registered`)
    const registration = checkRegistration(model, resource, this.#options)
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
   *   REST_MODELS_INVALID_MODEL
   */
  async setup (): Promise<void> {
    if (this.#isSetUp) {
      throw new errors.AlreadySetUp('setup() was called twice; call it once, after the last register()')
    }
    this.#requireNotReady('setup() was called')
    this.#isSetUp = true
    const container =
      openContainer(this.#registrations, this.#options, (resource) => { this.#resources.push(resource) })
    await this.#fastify.register(container, { prefix: this.#options.prefix })
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
