import { etagOf } from '../client/etags.js'
import { RestModelsError } from '../client/failure.js'
import type { ConditionalOptions } from '../client/send.js'
import type { Query } from './any-resource.js'

/**
 * Most ETags that are kept; the oldest is dropped first. A write of a record whose ETag was dropped is sent without
 * `If-Match`. A form is open for minutes only, so older ETags are hardly needed.
 */
const maxTags = 200

interface Known {
  readonly tag: string
  /** The record as the client returned it with the ETag, as JSON. */
  readonly values: string
}

/**
 * The ETags of records that were read or written, by the resource's name and a key: the record's values or its id. The
 * libraries that data providers serve copy records, so an ETag cannot be found by the object that the client returned.
 */
export class KnownTags {
  readonly #tags = new Map<string, Known>()
  /** Names of resources whose records had no ETag when one was last read alone. */
  readonly #untagged = new Set<string>()
  /** Names of resources whose tags are those of a plugin of the server, such as `@fastify/etag`. */
  readonly #unconditional = new Set<string>()

  /**
   * Reads a record and keeps its ETag under a key. A record with related ones comes without an ETag, so a first request
   * reads the record alone. It is left out if the last request for a record alone, of this resource, got no ETag.
   * If the record changes between the two requests, the next write is refused, although nothing would be lost.
   *
   * @param read   requests the record with the given query
   * @param query  may name related records in `include`, and may have options of the request
   * @param key    default: the values of the record
   */
  async read<Item extends object> (
    resource: string, read: (query: Query) => Promise<Item>, query: Query, key?: unknown
  ): Promise<Item> {
    const { include, ...options } = query
    if (include !== undefined && this.#untagged.has(resource)) return await read(query)
    const alone = await read(options)
    if (this.#tagOf(resource, alone) === undefined) this.#untagged.add(resource)
    else this.#untagged.delete(resource)
    return this.keep(resource, include === undefined ? alone : await read(query), key, alone)
  }

  /**
   * Keeps the ETag of a record under a key, and returns the record. If there is no ETag, the function only drops an
   * older one under that key.
   *
   * @param tagged  the object that the client returned with the ETag: the record without its related ones, if it has
   *   some
   */
  keep<Item extends object> (resource: string, record: Item, key: unknown = record, tagged: object = record): Item {
    const tag = this.#tagOf(resource, tagged)
    const place = placeOf(resource, key)
    // An older tag under this key is that of an older state of the record.
    this.#tags.delete(place)
    if (tag === undefined) return record
    this.#tags.set(place, { tag, values: JSON.stringify(tagged) })
    for (const oldest of this.#tags.keys()) {
      if (this.#tags.size <= maxTags) break
      this.#tags.delete(oldest)
    }
    return record
  }

  /**
   * Drops the ETag under a key if its record no longer has the values of the answer with that ETag. The next write then
   * has no condition, because the user has seen the new values.
   *
   * @param shown  the record as the app shows it now, from a list
   */
  compare (resource: string, key: unknown, shown: object): void {
    const known = this.#tags.get(placeOf(resource, key))
    if (known !== undefined && known.values !== JSON.stringify(shown)) this.forget(resource, key)
  }

  /** Drops the ETag under a key. */
  forget (resource: string, key: unknown): void {
    this.#tags.delete(placeOf(resource, key))
  }

  /**
   * Returns the option `ifMatch` for a write, which then fails if the record has changed since its ETag was kept.
   * Returns an empty object if no ETag is kept under the key.
   */
  condition (resource: string, key: unknown): { readonly ifMatch?: string } {
    const known = this.#tags.get(placeOf(resource, key))
    return known === undefined || this.#unconditional.has(resource) ? {} : { ifMatch: known.tag }
  }

  /**
   * Writes a record under the condition that {@link condition} returns. If the server answers that the resource has no
   * option `etag`, a plugin of the server made the tag. Nothing was written then, so the write is repeated without a
   * condition. From then on, the tags of this resource are not used.
   *
   * @param send  sends the write with the given options
   */
  async write<Result> (
    resource: string, key: unknown, send: (condition: ConditionalOptions) => Promise<Result>
  ): Promise<Result> {
    const condition = this.condition(resource, key)
    try {
      return await send(condition)
    } catch (error) {
      if (condition.ifMatch === undefined || !isUnsupported(error)) throw error
      this.#unconditional.add(resource)
      return await send({})
    }
  }

  #tagOf (resource: string, record: object): string | undefined {
    return this.#unconditional.has(resource) ? undefined : etagOf(record)
  }
}

function isUnsupported (error: unknown): boolean {
  return error instanceof RestModelsError && error.code === 'REST_MODELS_INVALID_PRECONDITION'
}

function placeOf (resource: string, key: unknown): string {
  return JSON.stringify([resource, key])
}
