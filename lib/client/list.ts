/** A page of a list; links are paths with a query, empty where there is no such page. */
export interface Page<Item> {
  readonly meta: { readonly model: string, readonly page: number, readonly next: string, readonly previous: string }
  readonly objects: readonly Item[]
}

/** Asks for a page by its query string. */
type Fetch<Item> = (query: string) => Promise<Page<Item>>

/**
 * A list that was asked for: awaited, it is the page that the query says; in `for await`, all records of this and the
 * pages that follow. Nothing is sent before, and a page only when its records are wanted.
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
    kept?: ((page: Page<Item>) => Kept | PromiseLike<Kept>) | null, failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null
  ): Promise<Kept | Failed> {
    this.#page ??= this.#fetch(this.#query)
    return this.#page.then(kept, failed)
  }

  /**
   * The pages, one after the other. Without `page` and `after` they follow each other by cursors, which have no bound; where a cursor
   * cannot tell a record they go on by numbers, as far as the server's limit of records that are skipped.
   */
  async * pages (): AsyncGenerator<Page<Item>, void, undefined> {
    let query = /(?:^|&)(?:page|after)=/.test(this.#query) ? this.#query : ['after=', this.#query].filter(Boolean).join('&')
    while (true) {
      const page = await this.#fetch(query)
      yield page
      if (page.meta.next === '') return
      // The path is not followed: behind a gateway it may be another one, and nobody shall send credentials elsewhere.
      query = page.meta.next.slice(page.meta.next.indexOf('?') + 1)
    }
  }

  async * [Symbol.asyncIterator] (): AsyncGenerator<Item, void, undefined> {
    for await (const { objects } of this.pages()) yield * objects
  }
}
