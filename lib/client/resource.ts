import type { Described, RecordKeyOf, ResourceCreate, ResourceRecord, ResourceUpdate } from './definition.js'
import type { AnyQuery, Checked } from './list-query.js'
import { List, type Page } from './list.js'
import type { Endpoint } from './options.js'
import { encode, toQuery } from './query.js'
import { send, type Call, type CallOptions } from './send.js'

/** The five operations of a resource. Each of them fails with a RestModelsError if the answer is an error. */
export interface ResourceClient<D extends Described, All = {}> {
  /** Await it for one page, or go through all records with `for await`. */
  readonly list: <Query extends AnyQuery<D, All>> (
    query?: Checked<Query, D, All>, options?: CallOptions
  ) => List<ResourceRecord<D>>
  readonly create: (body: ResourceCreate<D>, options?: CallOptions) => Promise<ResourceRecord<D>>
  readonly read: (key: RecordKeyOf<D>, options?: CallOptions) => Promise<ResourceRecord<D>>
  /** Fields that are left out keep their values. */
  readonly update: (key: RecordKeyOf<D>, body: ResourceUpdate<D>, options?: CallOptions) => Promise<ResourceRecord<D>>
  readonly delete: (key: RecordKeyOf<D>, options?: CallOptions) => Promise<void>
}

/** What the operations are without the model, which nothing is known of at run time. */
interface Operations {
  list (query?: Readonly<Record<string, unknown>>, options?: CallOptions): List<unknown>
  create (body: unknown, options?: CallOptions): Promise<unknown>
  read (key: unknown, options?: CallOptions): Promise<unknown>
  update (key: unknown, body: unknown, options?: CallOptions): Promise<unknown>
  delete (key: unknown, options?: CallOptions): Promise<void>
}

/** The operations of the resource of a name. */
export function resourceClient (endpoint: Endpoint, name: string): Operations {
  const call = async (wanted: Omit<Call, 'path'>, rest = ''): Promise<unknown> =>
    await send(endpoint, { ...wanted, path: `/${name}/${rest}` })
  return Object.freeze({
    list: (query = {}, { signal } = {}) => new List(
      async (text) => await call({ method: 'GET', signal }, text === '' ? '' : `?${text}`) as Page<unknown>, toQuery(query)),
    create: async (body, { signal } = {}) => await call({ method: 'POST', body, signal }),
    read: async (key, { signal } = {}) => await call({ method: 'GET', signal }, keyPath(key)),
    update: async (key, body, { signal } = {}) => await call({ method: 'PUT', body, signal }, keyPath(key)),
    delete: async (key, { signal } = {}) => { await call({ method: 'DELETE', signal }, keyPath(key)) }
  } satisfies Operations)
}

/** Nothing, or dots, would be another path; what else is no key, the server does not find. */
function keyPath (key: unknown): string {
  const text = String(key)
  if (/^\.{0,2}$/.test(text)) throw new TypeError("'key' must be the id of a record")
  return `${encode('key', text)}/`
}
