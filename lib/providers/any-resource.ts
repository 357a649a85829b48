import type { List, Page, Total } from '../client/list.js'
import { toQuery } from '../client/query.js'
import type { CallOptions, ConditionalOptions } from '../client/send.js'

// Data providers know resources by their names only. The library that they serve says how many records it wants.

export type Query = Readonly<Record<string, unknown>>

/** A client of any models, as `createClient` returns it. */
export interface AnyClient {
  readonly [resource: string]: {
    list (query?: Query, options?: CallOptions): List<unknown>
    create (body: unknown, options?: CallOptions): Promise<unknown>
    read (key: unknown, options?: CallOptions): Promise<unknown>
    update (key: unknown, body: unknown, options?: ConditionalOptions): Promise<unknown>
    delete (key: unknown, options?: ConditionalOptions): Promise<void>
  }
}

/**
 * A resource of an {@link AnyClient}. The caller states the types of the records and of what `count` adds to a page;
 * nothing checks them at run time.
 */
export interface AnyResource {
  list<Item, Counted = {}> (query?: Query, options?: CallOptions): List<Item, Counted>
  create<Item = object> (body: unknown, options?: CallOptions): Promise<Item>
  read<Item = object> (key: unknown, options?: CallOptions): Promise<Item>
  update<Item = object> (key: unknown, body: unknown, options?: ConditionalOptions): Promise<Item>
  delete (key: unknown, options?: ConditionalOptions): Promise<void>
}

export interface DataProviderOptions {
  /**
   * Most records that the provider asks for in one request. It must not be above the `maxLimit` of any resource, nor
   * above the server's `limits.inItems` if that is below 100: the server would answer 400. A longer page is loaded by
   * several requests. Default 100.
   */
  readonly maxLimit?: number
}

/**
 * Most characters of keys in one request. They leave room for the rest of the query within the server's default for
 * `limits.queryLength`. A hundred UUIDs have fewer.
 */
const maxKeysLength = 5000

/** Most keys in one request: the default of the server's `limits.inItems`. */
const maxKeys = 100

/**
 * Returns the resource of a client by its name in the path.
 *
 * @throws TypeError if the name cannot be that of a resource
 */
export function resourceOf (client: AnyClient, name: string): AnyResource {
  const resource = client[name]
  if (resource === undefined) throw new TypeError(`'${name}' cannot be the name of a resource`)
  return resource as AnyResource
}

/** A page of any size; the first `page` is 1. If `size` is above `maxLimit`, several requests load the page. */
export interface Range {
  readonly page: number
  readonly size: number
  readonly maxLimit: number
}

export interface Listed<Item> {
  readonly items: Item[]
  /** The number of records on all pages, or the server's `limits.count` if `isCapped`. */
  readonly count: number
  readonly isCapped: boolean
  readonly hasNext: boolean
}

/**
 * Lists a page, with the number of all records. A page of more than `maxLimit` records takes several requests, and so
 * does a page that the server ends early because its records are long.
 */
export async function listRange<Item> (
  resource: AnyResource, query: Query, { page, size, maxLimit }: Range, options?: CallOptions
): Promise<Listed<Item>> {
  const limit = Math.min(size, maxLimit)
  const skipped = (page - 1) * size
  const first = { limit, ...skipped > 0 && { page: Math.floor(skipped / limit) + 1 } }
  const counted = { ...query, ...size > limit ? { limit: 1 } : first, count: true }
  const { meta: { count, capped, next }, objects } = await resource.list<Item, Total>(counted, options)
  // The server ends a page of long records early, and links to the rest.
  const isWhole = size === limit && (objects.length === size || next === '')
  const items = isWhole
    ? [...objects]
    : await take(resource.list<Item>({ ...query, ...first }, options).pages(), skipped % limit, size)
  const hasNext = isWhole ? next !== '' : items.length === size && (capped || skipped + size < count)
  return { items, count, isCapped: capped, hasNext }
}

/**
 * Returns the records with these keys, not always in the order of the keys. Keys without a record are left out. So are
 * null, undefined and the empty text, which react-admin and refine pass for records that refer to nothing.
 */
export async function listKeys<Item> (
  resource: AnyResource, keys: readonly unknown[], maxLimit: number, query: Query, options?: CallOptions
): Promise<Item[]> {
  const wanted = keys.filter((key) => ![null, undefined, ''].some((none) => key === none))
  const found = await Promise.all(chunksOf(wanted, Math.min(maxLimit, maxKeys)).map(async (chunk) => {
    const list = resource.list<Item>({ ...query, id__in: chunk, limit: chunk.length }, options)
    return await take(list.pages(), 0, chunk.length)
  }))
  return found.flat()
}

/**
 * Splits keys into arrays, one for each request. An array has at most `most` keys, and at most {@link maxKeysLength}
 * characters. A single key that is longer has an array of its own.
 */
function chunksOf (keys: readonly unknown[], most: number): ReadonlyArray<readonly unknown[]> {
  const chunks: unknown[][] = []
  let length = 0
  for (const key of keys) {
    const added = toQuery({ id__in: [key] }).length
    const last = chunks.at(-1)
    if (last === undefined || last.length === most || length + added > maxKeysLength) {
      chunks.push([key])
      length = added
    } else {
      last.push(key)
      length += added
    }
  }
  return chunks
}

/**
 * Returns `size` records of consecutive pages, without the first `skipped` ones; fewer if the pages end. Requests no
 * page after the last of these records.
 */
async function take<Item> (pages: AsyncIterable<Page<Item>>, skipped: number, size: number): Promise<Item[]> {
  const items: Item[] = []
  for await (const { objects } of pages) {
    items.push(...objects)
    if (items.length >= skipped + size) break
  }
  return items.slice(skipped, skipped + size)
}
