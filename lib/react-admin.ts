import type {
  CreateParams, CreateResult, DataProvider, DeleteManyParams, DeleteManyResult, DeleteParams, DeleteResult,
  GetListParams, GetListResult, GetManyParams, GetManyReferenceParams, GetManyResult, GetOneParams, GetOneResult,
  Identifier, UpdateManyParams, UpdateManyResult, UpdateParams, UpdateResult
} from 'ra-core'
import { RestModelsError } from './client/failure.js'
import { requireKnown } from './client/known-options.js'
import {
  listKeys, listRange, resourceOf, type AnyClient, type AnyResource, type DataProviderOptions, type Query
} from './providers/any-resource.js'
import { filterNameOf, uniqueFilters } from './providers/filter-name.js'
import { changesOf, withoutNulls } from './providers/form-values.js'
import { KnownTags } from './providers/known-tags.js'
import { toShownError } from './providers/shown-error.js'

export type { AnyClient, DataProviderOptions } from './providers/any-resource.js'

/**
 * Returns a data provider for react-admin: `createDataProvider(createClient<[typeof User]>({ … }))`. The filter `q` is
 * the search of a list. `meta.include` names related records.
 *
 * @throws TypeError naming an unknown option
 */
export function createDataProvider (client: AnyClient, options: DataProviderOptions = {}): DataProvider {
  const { maxLimit = 100 } = requireKnown('createDataProvider()', options, { maxLimit: true })
  // react-admin copies records. Records with equal values have the same tag, so the tag is found by the values.
  const tags = new KnownTags()
  return { supportAbortSignal: true, ...reads(client, maxLimit, tags), ...writes(client, tags) }
}

/** Returns a method that calls `run` with the resource of a name, and throws errors as react-admin shows them. */
function methodOf<Params, Result> (
  client: AnyClient, run: (resource: AnyResource, params: Params, name: string) => Promise<Result>
): (name: string, params: Params) => Promise<Result> {
  return async (name, params) => {
    try {
      return await run(resourceOf(client, name), params, name)
    } catch (error) {
      throw error instanceof RestModelsError ? toHttpError(error) : error
    }
  }
}

/** Returns an error with the properties of react-admin's `HttpError`. */
function toHttpError (cause: RestModelsError): Error {
  const { message, errors } = toShownError(cause)
  const body = { code: cause.code, message, ...errors && { errors: { ...errors, root: { serverError: message } } } }
  return Object.assign(new Error(message, { cause }), { status: cause.status, body })
}

function reads (client: AnyClient, maxLimit: number, tags: KnownTags) {
  const list = async (resource: AnyResource, params: GetListParams): Promise<GetListResult> => {
    const { page, perPage: size } = params.pagination ?? { page: 1, perPage: maxLimit }
    const { items, count, isCapped, hasNext } =
      await listRange(resource, toQuery(params), { page, size, maxLimit }, { signal: params.signal })
    const pageInfo = { hasNextPage: hasNext, hasPreviousPage: page > 1 }
    // Without a total, react-admin shows "1-10 of more than 10".
    return { data: items, pageInfo, ...!isCapped && { total: count } }
  }
  return {
    getList: methodOf(client, list),
    getManyReference: methodOf(client, async (resource, { target, id, ...params }: GetManyReferenceParams) =>
      await list(resource, { ...params, filter: { ...params.filter, [target]: id } })),
    getMany: methodOf(client, async (resource, { ids, meta, signal }: GetManyParams): Promise<GetManyResult> =>
      ({ data: await listKeys(resource, ids, maxLimit, includeOf(meta), { signal }) })),
    getOne: methodOf(client, async (resource, { id, meta, signal }: GetOneParams, name): Promise<GetOneResult> =>
      ({ data: await tags.read(name, (query) => resource.read(id, query), { ...includeOf(meta), signal }) }))
  }
}

function writes (client: AnyClient, tags: KnownTags) {
  const update = methodOf(client, async (resource, params: UpdateParams, name): Promise<UpdateResult> => {
    const { id, data, previousData } = params
    const updated = await tags.write(name, previousData, async (condition) =>
      await resource.update(id, changesOf(data, previousData), condition))
    // An open form merges the answer with the record that it has, which may have related records.
    return { data: tags.keep(name, tags.keep(name, updated, { ...previousData, ...updated })) }
  })
  const remove = methodOf(client, async (resource, { id, previousData }: DeleteParams, name): Promise<DeleteResult> => {
    await tags.write(name, previousData, async (condition) => await resource.delete(id, condition))
    return { data: previousData ?? { id } }
  })
  return {
    create: methodOf(client, async (resource, { data }: CreateParams, name): Promise<CreateResult> =>
      ({ data: tags.keep(name, await resource.create(withoutNulls(data))) })),
    update,
    updateMany: async (name: string, { ids, data }: UpdateManyParams): Promise<UpdateManyResult> =>
      await writeAll(ids, async (id) => await update(name, { id, data, previousData: undefined })),
    delete: remove,
    deleteMany: async (name: string, { ids }: DeleteManyParams): Promise<DeleteManyResult> =>
      await writeAll(ids, async (id) => await remove(name, { id }))
  }
}

/** Writes several records. If any of them fails, throws the first error when all have been tried. */
async function writeAll (
  ids: Identifier[], write: (id: Identifier) => Promise<unknown>
): Promise<{ data: Identifier[] }> {
  const results = await Promise.allSettled(ids.map(write))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return { data: ids }
}

function toQuery ({ filter: { q, ...filters } = {}, sort, meta }: GetListParams): Query {
  const terms = Object.entries<unknown>(filters)
  return {
    ...uniqueFilters(terms.map(([key, value]) => value === null ? nullTest(key) : [filterNameOf(key, value), value])),
    search: q ?? undefined,
    ...sort && { ordering: `${sort.order === 'DESC' ? '-' : ''}${sort.field}` },
    ...includeOf(meta)
  }
}

/** Returns the filter for a value of null: `name__is=null` for `name`, and `name__is=notnull` for `name__ne`. */
function nullTest (name: string): [name: string, value: string | null] {
  const operator = /__(?:eq|ne|is)$/.exec(name)?.[0] ?? ''
  return [`${name.slice(0, name.length - operator.length)}__is`, operator === '__ne' ? 'notnull' : null]
}

function includeOf (meta: { readonly include?: unknown } | undefined): Query {
  return meta?.include === undefined ? {} : { include: meta.include }
}
