/** A page of a list. `next` and `previous` are a path with a query, or an empty text if there is no such page. */
export interface Page<Item> {
  readonly meta: { readonly model: string, readonly page: number, readonly next: string, readonly previous: string }
  readonly objects: readonly Item[]
}

/** Requests the page of a query string. */
type Fetch<Item> = (query: string) => Promise<Page<Item>>

/**
 * A list of records. `await` gives the page that the query selects. `for await` gives all records of that page and of
 * the pages that follow. Nothing is sent before one of the two, and each further page is requested only when its
 * records are needed.
 */
export class List<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  readonly #fetch: Fetch<Item>
  readonly #query: string
  #page: Promise<Page<Item>> | undefined

  constructor (fetch: Fetch<Item>, query: string) {
    this.#fetch = fetch
    this.#query = query
  }

  then<Kept = Page<Item>, Failed = never> (
    kept?: ((page: Page<Item>) => Kept | PromiseLike<Kept>) | null,
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null
  ): Promise<Kept | Failed> {
    this.#page ??= this.#fetch(this.#query)
    return this.#page.then(kept, failed)
  }

  /**
   * Requests the pages one after the other. If the query has no `page` and no `after`, the client asks for links with
   * cursors, which reach every record. If the server has no cursor for a record, it links by page number. The pages
   * then end, without an error, where the next one would skip more records than the server permits.
   */
  async * pages (): AsyncGenerator<Page<Item>, void, undefined> {
    let query = /(?:^|&)(?:page|after)=/.test(this.#query)
      ? this.#query
      : ['after=', this.#query].filter(Boolean).join('&')
    while (true) {
      const page = await this.#fetch(query)
      yield page
      if (page.meta.next === '') return
      // Only the query is taken: a gateway may change the path, and a link must not send credentials elsewhere.
      query = page.meta.next.slice(page.meta.next.indexOf('?') + 1)
    }
  }

  async * [Symbol.asyncIterator] (): AsyncGenerator<Item, void, undefined> {
    for await (const { objects } of this.pages()) yield * objects
  }
}
