/** What a client may write of a message. Each content is asked for once, with one date. */
export interface Fields {
  readonly content: string
  readonly pub_date: string
}

/** How a table differs from what clients were told. */
export interface Differences {
  /** Writes that were acknowledged and are not there. */
  readonly lost: readonly string[]
  /** Records that nobody asked for as they are. */
  readonly halfDone: readonly string[]
}

/**
 * What clients asked for and what they were told, so that a table can be held against it. Nobody writes to a record
 * before the last write to it was answered.
 */
export class Ledger {
  readonly #asked = new Map<string, string>()
  readonly #told = new Map<number, Fields>()
  /** By id; null for a delete. */
  readonly #open = new Map<number, Fields | null>()
  readonly #openCreates = new Set<string>()
  #acknowledged = 0

  /** Writes that were answered with success. */
  get acknowledged (): number {
    return this.#acknowledged
  }

  /** Takes what was there before for asked and answered. */
  begin (stored: ReadonlyMap<number, Fields>): void {
    for (const { content, pub_date: date } of stored.values()) this.#asked.set(content, date)
    this.settle(stored)
  }

  askCreate (fields: Fields): void {
    this.#asked.set(fields.content, fields.pub_date)
    this.#openCreates.add(fields.content)
  }

  tellCreated (id: number, fields: Fields): void {
    this.#acknowledged++
    this.#openCreates.delete(fields.content)
    this.#told.set(id, fields)
  }

  /** @param fields  null to delete the record */
  askChange (id: number, fields: Fields | null): void {
    if (fields !== null) this.#asked.set(fields.content, fields.pub_date)
    this.#open.set(id, fields)
  }

  tellChanged (id: number, fields: Fields | null): void {
    this.#acknowledged++
    this.#open.delete(id)
    if (fields === null) this.#told.delete(id)
    else this.#told.set(id, fields)
  }

  /**
   * Compares, and takes what is there for what has to be there from now on: what was not answered has happened or not.
   */
  settle (stored: ReadonlyMap<number, Fields>): Differences {
    const differences = this.#compare(stored)
    this.#open.clear()
    this.#openCreates.clear()
    this.#told.clear()
    for (const [id, fields] of stored) this.#told.set(id, fields)
    return differences
  }

  #compare (stored: ReadonlyMap<number, Fields>): Differences {
    const halfDone = [...stored].filter(([, { content, pub_date: date }]) => this.#asked.get(content) !== date)
    const broken = new Set(halfDone.map(([id]) => id))
    const gone = [...this.#told].filter(([id]) => !stored.has(id) && this.#open.get(id) !== null)
    const wrong = [...stored].filter(([id, fields]) => !broken.has(id) && !this.#mayBe(id, fields))
    return { lost: [...gone, ...wrong].map(describe), halfDone: halfDone.map(describe) }
  }

  #mayBe (id: number, { content }: Fields): boolean {
    if (!this.#told.has(id)) return this.#openCreates.has(content)
    return this.#told.get(id)?.content === content || this.#open.get(id)?.content === content
  }
}

function describe ([id, { content, pub_date: date }]: readonly [number, Fields]): string {
  return `${id} ${content.slice(0, 40)} (${content.length} characters) ${date}`
}
