import type {
  BaseRecord, CreateParams, CreateResponse, DataProvider, DeleteOneParams, DeleteOneResponse, GetListParams,
  GetListResponse, GetManyParams, GetManyResponse, GetOneParams, GetOneResponse, HttpError, MetaQuery, UpdateParams,
  UpdateResponse
} from '@refinedev/core'
import { RestModelsError } from './client/failure.js'
import { requireKnown } from './client/known-options.js'
import type { CallOptions } from './client/send.js'
import {
  listKeys, listRange, resourceOf, type AnyClient, type DataProviderOptions, type Query
} from './providers/any-resource.js'
import { toFilters } from './providers/refine-filters.js'
import { SeenRecords } from './providers/seen-records.js'
import { toShownError } from './providers/shown-error.js'

export type { AnyClient, DataProviderOptions } from './providers/any-resource.js'

export interface RefineOptions extends DataProviderOptions {
  /** URL that refine's `useApiUrl` returns. Requests go to the `baseUrl` of the client instead. Default `/api`. */
  readonly apiUrl?: string
}

/**
 * Returns a data provider for refine: `createDataProvider(createClient<[typeof User]>({ … }))`. A filter on `q` is the
 * search of a list. `meta.include` names related records.
 *
 * @throws TypeError naming an unknown option
 */
export function createDataProvider (client: AnyClient, options: RefineOptions = {}): DataProvider {
  const { maxLimit = 100, apiUrl = '/api' } =
    requireKnown('createDataProvider()', options, { maxLimit: true, apiUrl: true })
  const seen = new SeenRecords()
  return {
    ...lists(client, maxLimit, seen), ...reads(client, maxLimit, seen), ...writes(client, seen), getApiUrl: () => apiUrl
  }
}

/** Returns what a promise resolves to. If it fails, throws an error as refine shows it. */
async function shown<Result> (answer: Promise<Result>): Promise<Result> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof RestModelsError ? toHttpError(error) : error
  }
}

function toHttpError (cause: RestModelsError): HttpError {
  const { message, errors = {} } = toShownError(cause)
  return Object.assign(new Error(message, { cause }), { statusCode: cause.status, errors })
}

function lists (client: AnyClient, maxLimit: number, seen: SeenRecords) {
  return {
    getList: async <Item extends BaseRecord> (params: GetListParams): Promise<GetListResponse<Item>> => {
      const { currentPage: page = 1, pageSize: size = 10, mode = 'server' } = params.pagination ?? {}
      // refine cuts the pages itself if they are not the server's.
      const range = mode === 'server' ? { page, size } : { page: 1, size: Number.MAX_SAFE_INTEGER }
      const { resource, meta } = params
      const { items, count, isCapped } = await shown(listRange<Item>(
        resourceOf(client, resource), toQuery(params), { ...range, maxLimit }, signalOf(meta)))
      const data = seen.listed(resource, items, includeOf(meta))
      return mode === 'server'
        ? { data, total: count, isCapped }
        : { data, total: items.length, isCapped: items.length < count }
    }
  }
}

function reads (client: AnyClient, maxLimit: number, seen: SeenRecords) {
  return {
    getMany: async <Item extends BaseRecord> (params: GetManyParams): Promise<GetManyResponse<Item>> => {
      const { resource, ids, meta } = params
      const found = listKeys<Item>(resourceOf(client, resource), ids, maxLimit, includeOf(meta), signalOf(meta))
      return { data: seen.listed(resource, await shown(found), includeOf(meta)) }
    },
    getOne: async <Item extends BaseRecord> ({ resource, id, meta }: GetOneParams): Promise<GetOneResponse<Item>> => {
      const read = async (query: Query) => await resourceOf(client, resource).read<Item>(id, query)
      return { data: await shown(seen.read(resource, read, { ...includeOf(meta), ...signalOf(meta) }, id)) }
    }
  }
}

function writes (client: AnyClient, seen: SeenRecords) {
  return {
    create: async <Item extends BaseRecord, Body = {}> (
      { resource, variables }: CreateParams<Body>
    ): Promise<CreateResponse<Item>> => {
      const record = await shown(resourceOf(client, resource).create<Item>(seen.toBody(resource, variables)))
      return { data: seen.written(resource, record) }
    },
    update: async <Item extends BaseRecord, Body = {}> (
      { resource, id, variables }: UpdateParams<Body>
    ): Promise<UpdateResponse<Item>> => {
      const body = seen.toBody(resource, variables)
      const record = await shown(seen.update(resource, id, async (condition) =>
        await resourceOf(client, resource).update<Item>(id, body, condition)))
      return { data: seen.written(resource, record) }
    },
    deleteOne: async <Item extends BaseRecord, Body = {}> (
      { resource, id }: DeleteOneParams<Body>
    ): Promise<DeleteOneResponse<Item>> => {
      await shown(resourceOf(client, resource).delete(id))
      seen.forget(resource, id)
      return { data: { id } as Item }
    }
  }
}

function toQuery ({ filters = [], sorters = [], meta }: GetListParams): Query {
  const ordering = sorters.map(({ field, order }) => order === 'desc' ? `-${field}` : field)
  return { ...toFilters(filters), ...ordering.length > 0 && { ordering }, ...includeOf(meta) }
}

function includeOf (meta: MetaQuery | undefined): Query {
  return meta?.['include'] === undefined ? {} : { include: meta['include'] }
}

function signalOf (meta: MetaQuery | undefined): CallOptions {
  return { signal: meta?.queryContext?.signal }
}
