import type { Described, NameOf, UnknownNames } from './client/definition.js'
import type { ByModel } from './client/list-query.js'
import { checkOptions, type ClientOptions } from './client/options.js'
import { resourceClient, type ResourceClient } from './client/resource.js'

export type {
  Described, ResourceCreate, ResourceDefinition, ResourceRecord, ResourceUpdate
} from './client/definition.js'
export { etagOf } from './client/etags.js'
export { RestModelsError } from './client/failure.js'
export type { Fetch, FetchAnswer, FetchInit } from './client/fetch.js'
export type { ByModel, ListQuery } from './client/list-query.js'
export type { List, Page, PageMeta, Total } from './client/list.js'
export type { ClientOptions } from './client/options.js'
export type { ResourceClient, WriteOptions } from './client/resource.js'
export type { CallOptions, ConditionalOptions } from './client/send.js'
export type { ErrorCode, FieldFault } from './errors.js'
export type { Field, ForeignKeyField } from './model/field.js'
export type { Model } from './model/model.js'

/**
 * API client with one property for each resource. The property has the name of the resource in the path, and holds the
 * operations on that resource. A resource whose options name unknown fields has {@link UnknownOptionFields} instead. A
 * resource with the name of a {@link PropertyOfObjects} is left out.
 */
export type Client<Resources extends readonly Described[]> = {
  readonly [D in Resources[number] as Exclude<NameOf<D>, PropertyOfObjects>]: [UnknownNames<D>] extends [never]
    ? ResourceClient<D, ByModel<Resources>>
    : UnknownOptionFields<UnknownNames<D>>
}

/** Names of resources that no client has, because JavaScript reads properties of these names of any object. */
type PropertyOfObjects = 'then' | 'constructor' | '__proto__'

/**
 * Stands in the type of a client for a resource whose options name fields that its model does not have. It has no
 * operations, so code that uses the resource does not compile.
 */
export interface UnknownOptionFields<Names> {
  readonly unknownFields: Names
}

const resourceNamePattern = /^[a-z0-9_-]+$/

/**
 * True if a property name can be the name of a resource. `then` cannot, because `await` would take the client for a
 * promise. Names of properties that every object has, such as `constructor`, cannot either.
 */
function isResource (name: string | symbol): name is string {
  return typeof name === 'string' && resourceNamePattern.test(name) && name !== 'then' && !(name in Object.prototype)
}

/**
 * Returns a client for the resources of some models: `createClient<[typeof User, typeof Message]>({ … })`. The client
 * runs in browsers and in Node. The models are used only as types, so no code of the server is bundled with it.
 *
 * @throws TypeError naming the option that is wrong
 */
export function createClient<const Resources extends readonly Described[]> (options: ClientOptions): Client<Resources> {
  const endpoint = checkOptions(options)
  const resources = new Map<string, unknown>()
  const client: object = new Proxy(Object.freeze({}), {
    get: (_target, name) => {
      if (!isResource(name)) return undefined
      if (!resources.has(name)) resources.set(name, resourceClient(endpoint, name))
      return resources.get(name)
    }
  })
  return client as Client<Resources>
}
