import type { ConditionalOptions } from '../client/send.js'
import type { Query } from './any-resource.js'
import { KnownTags } from './known-tags.js'

interface Identified { readonly id?: unknown }

/**
 * Remembers what an app with refine has read: the ETag of each record, and the names of the foreign keys that belong to
 * related records. refine does not say which state of a record a form shows, so the ETag that was read or written last
 * counts.
 */
export class SeenRecords {
  readonly #tags = new KnownTags()
  /**
   * Maps the name of a resource to a map of its included records: from the name of the related record, such as
   * `person`, to that of the foreign key, such as `person_id`.
   */
  readonly #references = new Map<string, Map<string, string>>()

  /**
   * Reads a record. Remembers its ETag for the condition of the next write and, for each related record that was
   * included, the name of the foreign key that leads to it: {@link toBody} needs these names.
   */
  async read<Item extends object> (
    resource: string, read: (query: Query) => Promise<Item>, query: Query, id: unknown
  ): Promise<Item> {
    const record = await this.#tags.read(resource, read, query, String(id))
    this.#rememberReferences(resource, record, query)
    return record
  }

  /**
   * Returns the records of a list, and remembers the names of the foreign keys of their related records. Lists have no
   * ETags. So the known ETag of a record is dropped if the record differs from the one that came with the ETag.
   */
  listed<Item extends Identified> (resource: string, records: Item[], query: Query): Item[] {
    const names = includedNames(query)
    for (const record of records) this.#tags.compare(resource, String(record.id), without(record, names))
    if (records[0] !== undefined) this.#rememberReferences(resource, records[0], query)
    return records
  }

  /** Returns a record as a write answered it, and remembers its ETag for the next write. */
  written<Item extends Identified> (resource: string, record: Item): Item {
    return this.#tags.keep(resource, record, String(record.id))
  }

  /** Forgets a record that was deleted, because another one may get its id. */
  forget (resource: string, id: unknown): void {
    this.#tags.forget(resource, String(id))
  }

  /** Updates a record under the condition that it still has its known ETag, as {@link KnownTags.write} says. */
  async update<Item> (
    resource: string, id: unknown, send: (condition: ConditionalOptions) => Promise<Item>
  ): Promise<Item> {
    return await this.#tags.write(resource, String(id), send)
  }

  /**
   * Returns the body of a write. Apps send a record back as they read it, with related records such as `person`, which
   * the API does not accept. If `values` has the foreign key `person_id` as well, `person` is left out: a form changes
   * the key and leaves the related record beside it. Otherwise the id of the related record replaces it under the name
   * `person`, or null if there is no related record.
   */
  toBody (resource: string, values: unknown): Query {
    const references = this.#references.get(resource)
    return Object.fromEntries(Object.entries<unknown>(Object(values)).flatMap(([name, value]) => {
      const key = references?.get(name)
      if (key === undefined || typeof value !== 'object') return [[name, value]]
      return Object.hasOwn(Object(values), key) ? [] : [[name, value === null ? null : Object(value).id]]
    }))
  }

  #rememberReferences (resource: string, record: object, query: Query): void {
    const references = this.#references.get(resource) ?? new Map<string, string>()
    const names = Object.keys(record)
    for (const name of includedNames(query)) {
      // The API writes a related record after its key, whose name the client does not know.
      const key = names[names.indexOf(name) - 1]
      if (key !== undefined) references.set(name, key)
    }
    this.#references.set(resource, references)
  }
}

/** Returns the names of the related records that a query adds to each record: `project` of `project__company`. */
function includedNames ({ include = [] }: Query): string[] {
  return [include].flat().flatMap((paths) => String(paths).split(',')).map((path) => path.replace(/__.*/, ''))
}

function without (record: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}
