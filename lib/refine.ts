import type {
  BaseRecord, CreateParams, CreateResponse, DataProvider, DeleteOneParams, DeleteOneResponse, GetListParams,
  GetListResponse, GetManyParams, GetManyResponse, GetOneParams, GetOneResponse, HttpError, MetaQuery, UpdateParams,
  UpdateResponse
} from '@refinedev/core'
import { RestModelsError } from './client/failure.js'
import type { CallOptions } from './client/send.js'
import {
  listKeys, listRange, resourceOf, type AnyClient, type DataProviderOptions, type Query
} from './providers/any-resource.js'
import { KnownTags } from './providers/known-tags.js'
import { toFilters } from './providers/refine-filters.js'
import { toShownError } from './providers/shown-error.js'

export type { AnyClient, DataProviderOptions } from './providers/any-resource.js'

export interface RefineOptions extends DataProviderOptions {
  /** Returned by `getApiUrl`, which refine's `useApiUrl` calls. Default `/api`. */
  readonly apiUrl?: string
}

/** Most records of a list that refine wants without pages, such as the choices of a select. The rest is left out. */
const maxUnpaged = 1000

/**
 * Returns a data provider for refine: `createDataProvider(createClient<[typeof User]>({ … }))`. A filter on `q` is the
 * search of a list. `meta.include` names related records.
 */
export function createDataProvider (
  client: AnyClient, { maxLimit = 100, apiUrl = '/api' }: RefineOptions = {}
): DataProvider {
  return { ...lists(client, maxLimit), ...records(client), getApiUrl: () => apiUrl }
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

function lists (client: AnyClient, maxLimit: number) {
  return {
    getList: async <Item extends BaseRecord> (params: GetListParams): Promise<GetListResponse<Item>> => {
      const { currentPage = 1, pageSize = 10, mode = 'server' } = params.pagination ?? {}
      const range = mode === 'server' ? { page: currentPage, size: pageSize } : { page: 1, size: maxUnpaged }
      const { items, count, isCapped } = await shown(listRange<Item>(
        resourceOf(client, params.resource), toQuery(params), { ...range, maxLimit }, signalOf(params.meta)))
      return { data: items, total: count, isCapped }
    },
    getMany: async <Item extends BaseRecord> (params: GetManyParams): Promise<GetManyResponse<Item>> => {
      const { resource, ids, meta } = params
      const found = listKeys<Item>(resourceOf(client, resource), ids, maxLimit, includeOf(meta), signalOf(meta))
      return { data: await shown(found) }
    }
  }
}

function records (client: AnyClient) {
  // refine does not say which state of a record a form shows. The state that was read last counts.
  const tags = new KnownTags()
  return {
    getOne: async <Item extends BaseRecord> ({ resource, id, meta }: GetOneParams): Promise<GetOneResponse<Item>> => {
      const read = async (query: Query) => await resourceOf(client, resource).read<Item>(id, query)
      return { data: await shown(tags.read(resource, read, { ...includeOf(meta), ...signalOf(meta) }, String(id))) }
    },
    create: async <Item extends BaseRecord, Body = {}> (
      { resource, variables }: CreateParams<Body>
    ): Promise<CreateResponse<Item>> => ({ data: await shown(resourceOf(client, resource).create<Item>(variables)) }),
    update: async <Item extends BaseRecord, Body = {}> (
      { resource, id, variables }: UpdateParams<Body>
    ): Promise<UpdateResponse<Item>> => {
      const condition = tags.condition(resource, String(id))
      const record = await shown(resourceOf(client, resource).update<Item>(id, variables, condition))
      return { data: tags.keep(resource, record, String(id)) }
    },
    deleteOne: async <Item extends BaseRecord, Body = {}> (
      { resource, id }: DeleteOneParams<Body>
    ): Promise<DeleteOneResponse<Item>> => {
      await shown(resourceOf(client, resource).delete(id))
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
