import { etagOf } from '../client/etags.js'

/** Tags that are kept. A form is open for minutes, and older ones are not asked for again. */
const maxTags = 200

/**
 * The ETags of records that were read, by the name of the resource and a key: the values of the record, or its id. The
 * libraries that data providers serve copy records, so the objects that the client returned are no keys.
 */
export class KnownTags {
  readonly #tags = new Map<string, string>()

  /** Keeps the tag of a record as the client returned it, if it has one, and returns the record. */
  keep<Item extends object> (resource: string, record: Item, key: unknown = record): Item {
    const tag = etagOf(record)
    const place = placeOf(resource, key)
    // An older tag is that of an older state.
    this.#tags.delete(place)
    if (tag === undefined) return record
    this.#tags.set(place, tag)
    for (const oldest of this.#tags.keys()) {
      if (this.#tags.size <= maxTags) break
      this.#tags.delete(oldest)
    }
    return record
  }

  /** Returns the option of a write that fails if the record has changed since its tag was kept. */
  condition (resource: string, key: unknown): { readonly ifMatch?: string } {
    const tag = this.#tags.get(placeOf(resource, key))
    return tag === undefined ? {} : { ifMatch: tag }
  }
}

function placeOf (resource: string, key: unknown): string {
  return JSON.stringify([resource, key])
}
