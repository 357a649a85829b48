import { etagOf } from '../client/etags.js'

/**
 * Most ETags that are kept; the oldest is dropped first. A write of a record whose ETag was dropped is sent without
 * `If-Match`. A form is open for minutes only, so older ETags are hardly needed.
 */
const maxTags = 200

/**
 * The ETags of records that were read, by the name of the resource and a key: the values of the record, or its id. The
 * libraries that data providers serve copy records, so an ETag cannot be found by the object that the client returned.
 */
export class KnownTags {
  readonly #tags = new Map<string, string>()

  /**
   * Keeps the ETag of a record under a key, and returns the record, which must be the object that the client returned.
   * If the record has no ETag, the function only drops an older one under that key.
   */
  keep<Item extends object> (resource: string, record: Item, key: unknown = record): Item {
    const tag = etagOf(record)
    const place = placeOf(resource, key)
    // An older tag under this key is that of an older state of the record.
    this.#tags.delete(place)
    if (tag === undefined) return record
    this.#tags.set(place, tag)
    for (const oldest of this.#tags.keys()) {
      if (this.#tags.size <= maxTags) break
      this.#tags.delete(oldest)
    }
    return record
  }

  /**
   * Returns the option `ifMatch` for a write, which then fails if the record has changed since its ETag was kept.
   * Returns an empty object if no ETag is kept under the key.
   */
  condition (resource: string, key: unknown): { readonly ifMatch?: string } {
    const tag = this.#tags.get(placeOf(resource, key))
    return tag === undefined ? {} : { ifMatch: tag }
  }
}

function placeOf (resource: string, key: unknown): string {
  return JSON.stringify([resource, key])
}
