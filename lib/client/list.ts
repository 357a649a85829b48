/**
 * Facts about a page. `next` and `previous` are a path with a query. They are empty if there is no such page, or if the
 * server would refuse the request. `previous` is also empty if the page was requested with `after`.
 */
export interface PageMeta {
  readonly model: string
  readonly page: number
  readonly next: string
  readonly previous: string
}

/** The number of records on all pages. If `capped` is true, there are more records than `count`. */
export interface Total {
  readonly count: number
  readonly capped: boolean
}

/**
 * Properties of `meta` in addition to {@link PageMeta}, for a query of the type `Given`. They are those of
 * {@link Total} if the query has `count`, and optional if `count` may be absent. There are none if the type of the
 * query has no `count`.
 */
export type TotalOf<Given> =
  'count' extends keyof Given ? Given extends { readonly count: true } ? Total : Partial<Total> : {}

/**
 * A page of a list. If its query asks for `count`, `meta` has the number of records on all pages: `Page<Item, Total>`.
 */
export interface Page<Item, Counted = {}> {
  readonly meta: PageMeta & Counted
  readonly objects: readonly Item[]
}

/** Function that requests the page that a query string selects. */
type Fetch<Item, Counted> = (query: string) => Promise<Page<Item, Counted>>

/**
 * A list of records. `await` gives the page that the query selects. `for await` gives all records of that page and of
 * the pages that follow. Nothing is sent before one of the two, and each further page is requested only when its
 * records are needed. A second `await` gives the same page again; each `for await` requests its pages anew.
 */
export class List<Item, Counted = {}> implements PromiseLike<Page<Item, Counted>>, AsyncIterable<Item> {
  readonly #fetch: Fetch<Item, Counted>
  readonly #query: string
  #page: Promise<Page<Item, Counted>> | undefined

  constructor (fetch: Fetch<Item, Counted>, query: string) {
    this.#fetch = fetch
    this.#query = query
  }

  then<Kept = Page<Item, Counted>, Failed = never> (
    kept?: ((page: Page<Item, Counted>) => Kept | PromiseLike<Kept>) | null,
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null
  ): Promise<Kept | Failed> {
    this.#page ??= this.#fetch(this.#query)
    return this.#page.then(kept, failed)
  }

  /** Waits for the page, as `await` does. Calls `failed` if the request fails, like `catch` of a promise. */
  async catch<Failed = never> (
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null
  ): Promise<Page<Item, Counted> | Failed> {
    return await this.then(undefined, failed)
  }

  /** Waits for the page, as `await` does. Then calls `settled`, also after a failure, like `finally` of a promise. */
  async finally (settled?: (() => void) | null): Promise<Page<Item, Counted>> {
    return await this.then().finally(settled)
  }

  /**
   * Requests the pages one after the other. If the query has no `page` and no `after`, the client asks for links with
   * cursors, which reach every record. If the server can make no cursor, it links the next page by its number. But it
   * gives no such link if that page would skip more records than the server permits. The pages then end, without an
   * error.
   */
  async * pages (): AsyncGenerator<Page<Item, Counted>, void, undefined> {
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
