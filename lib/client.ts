import type { Described, NameOf, UnknownNames } from './client/definition.js'
import type { ByModel } from './client/list-query.js'
import { checkOptions, type ClientOptions } from './client/options.js'
import { resourceClient, type ResourceClient } from './client/resource.js'

export type { ResourceCreate, ResourceDefinition, ResourceRecord, ResourceUpdate } from './client/definition.js'
export { RestModelsError } from './client/failure.js'
export type { Fetch, FetchAnswer, FetchInit } from './client/fetch.js'
export type { ListQuery } from './client/list-query.js'
export type { List, Page } from './client/list.js'
export type { ClientOptions } from './client/options.js'
export type { ResourceClient } from './client/resource.js'
export type { CallOptions } from './client/send.js'
export type { ErrorCode, FieldFault } from './errors.js'
export type { Field, ForeignKeyField } from './model/field.js'
export type { Model } from './model/model.js'

/** A client: the operations of each resource under its name in the path. */
export type Client<Resources extends readonly Described[]> = {
  readonly [D in Resources[number] as NameOf<D>]: [UnknownNames<D>] extends [never] ? ResourceClient<D, ByModel<Resources>> : UnknownOptionFields<UnknownNames<D>>
}

/** Stands for a resource whose options name fields that its model does not have. */
export interface UnknownOptionFields<Names> {
  readonly unknownFields: Names
}

const resourceName = /^[a-z0-9_-]+$/

/** Whether a property may be a resource: not `then`, which would make a promise of the client, nor what every object has, as `constructor`. */
function isResource (name: string | symbol): name is string {
  return typeof name === 'string' && resourceName.test(name) && name !== 'then' && !(name in Object.prototype)
}

/**
 * A client of the resources of some models, for browsers and Node: `createClient<[typeof User, typeof Message]>({ … })`.
 * Models are types alone, so no code of the server comes along.
 *
 * @throws TypeError naming the option
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
