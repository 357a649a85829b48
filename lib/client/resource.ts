import type { Described, RecordKeyOf, ResourceCreate, ResourceRecord, ResourceUpdate } from './definition.js'
import type { IncludeOf, Including, IncludingRecord } from './include.js'
import { bringsKey, createOnce } from './keyed-create.js'
import type { AnyQuery, Checked } from './list-query.js'
import { List, type Page, type TotalOf } from './list.js'
import { requireKnown } from './known-options.js'
import type { Endpoint } from './options.js'
import { encode, toQuery } from './query.js'
import { send } from './repeat.js'
import type { Call, CallOptions, ConditionalOptions } from './send.js'

/** Options of a call that changes a record. Only a resource with the option `etag` takes `ifMatch`. */
export type WriteOptions<D extends Described> =
  D extends { readonly etag: infer Has } ? [Has] extends [false] ? CallOptions : ConditionalOptions : CallOptions

/**
 * The five operations of a resource. Each one fails with a RestModelsError if the answer is an error. The client
 * repeats a request, up to three times, if the server answers that it certainly did not execute the request, and asks
 * the client to wait for at most ten seconds.
 */
export interface ResourceClient<D extends Described, All = {}> {
  /**
   * Lists records: `await` gives one page, `for await` gives all records from that page on. `Given` is the type of the
   * whole query. Only this type shows if `count` or `include` may be absent.
   */
  readonly list: <
    Query extends AnyQuery<D, All>, const Include extends readonly string[] = [],
    const Given extends object = {}
  > (
    query?: Checked<Query, D, All> & Including<Include, D, All> & Given, options?: CallOptions
  ) => List<IncludingRecord<D, All, IncludeOf<Given, Include>>, TotalOf<Given>>
  /**
   * Creates a record. If the body brings its own `id`, a random UUID, the request is also repeated if nobody knows
   * whether it was executed, for example because the answer was lost. It still creates one record.
   */
  readonly create: (body: ResourceCreate<D>, options?: CallOptions) => Promise<ResourceRecord<D>>
  readonly read: <
    const Include extends readonly string[] = [], const Given extends { readonly include?: unknown } = {}
  > (
    key: RecordKeyOf<D>, options?: CallOptions & Including<Include, D, All> & Given
  ) => Promise<IncludingRecord<D, All, IncludeOf<Given, Include>>>
  /** Updates a record. Fields that the body leaves out keep their values. */
  readonly update: (
    key: RecordKeyOf<D>, body: ResourceUpdate<D>, options?: WriteOptions<D>
  ) => Promise<ResourceRecord<D>>
  readonly delete: (key: RecordKeyOf<D>, options?: WriteOptions<D>) => Promise<void>
}

type ReadOptions = CallOptions & { readonly include?: readonly string[] | undefined }

/** The operations without the types of the model, because the client does not know the model at run time. */
interface Operations {
  list (query?: Readonly<Record<string, unknown>>, options?: CallOptions): List<unknown>
  create (body: unknown, options?: CallOptions): Promise<unknown>
  read (key: unknown, options?: ReadOptions): Promise<unknown>
  update (key: unknown, body: unknown, options?: ConditionalOptions): Promise<unknown>
  delete (key: unknown, options?: ConditionalOptions): Promise<void>
}

const callOptions: Readonly<Record<keyof CallOptions, true>> = { signal: true }
const readOptions: Readonly<Record<keyof ReadOptions, true>> = { ...callOptions, include: true }
const writeOptions: Readonly<Record<keyof ConditionalOptions, true>> = { ...callOptions, ifMatch: true }

/** Returns the functions that call the operations of a resource, found by its name in the path. */
export function resourceClient (endpoint: Endpoint, name: string): Operations {
  const call = async (wanted: Omit<Call, 'path'>, rest = ''): Promise<unknown> =>
    await send(endpoint, { ...wanted, path: `/${name}/${rest}` })
  return Object.freeze({
    list: (query = {}, options = {}) => toList(query, options, call),
    create: async (body, options = {}) => {
      const { signal } = requireKnown('create()', options, callOptions)
      if (bringsKey(body)) return await createOnce(endpoint, { path: `/${name}/`, body, signal })
      return await call({ method: 'POST', body, signal })
    },
    read: async (key, options = {}) => {
      const { include = [], signal } = requireKnown('read()', options, readOptions)
      const query = include.length === 0 ? '' : `?${toQuery({ include })}`
      return await call({ method: 'GET', signal, isComposed: query !== '' }, `${keyPath(key)}${query}`)
    },
    update: async (key, body, options = {}) => {
      const { signal, ifMatch } = requireKnown('update()', options, writeOptions)
      return await call({ method: 'PUT', body, signal, ifMatch }, keyPath(key))
    },
    delete: async (key, options = {}) => {
      const { signal, ifMatch } = requireKnown('delete()', options, writeOptions)
      await call({ method: 'DELETE', signal, ifMatch }, keyPath(key))
    }
  } satisfies Operations)
}

/**
 * Returns the list of the records that a query selects. If a value of the query cannot be written in a URL, or an
 * option is unknown, each use of the list rejects. The function itself never throws, so that `list` fails in the same
 * way as the other operations.
 */
function toList (
  query: Readonly<Record<string, unknown>>, options: CallOptions,
  call: (wanted: Omit<Call, 'path'>, rest: string) => Promise<unknown>
): List<unknown> {
  try {
    const { signal } = requireKnown('list()', options, callOptions)
    const fetch = async (text: string): Promise<Page<unknown>> =>
      await call({ method: 'GET', signal, isComposed: true }, text === '' ? '' : `?${text}`) as Page<unknown>
    return new List(fetch, toQuery(query))
  } catch (failure) {
    return new List(async () => { throw failure }, '')
  }
}

/**
 * Returns the path of a record. Throws a TypeError if the key is empty, `.` or `..`: with an empty key the path names
 * no record, and URLs drop the segments `.` and `..`. The server answers any other wrong key with 404.
 */
function keyPath (key: unknown): string {
  const text = String(key)
  if (/^\.{0,2}$/.test(text)) throw new TypeError("'key' must be the id of a record")
  return `${encode('key', text)}/`
}
