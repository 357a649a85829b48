import type { Model } from 'fastify-rest-models'
import { fillTables, makeTables } from '../site/fill.js'
import type { Engine } from './engine.js'

/** The databases of a run. */
export class Databases {
  readonly engine: Engine
  readonly #made = new Set<string>()
  readonly #filled = new Map<number, string>()

  constructor (engine: Engine) {
    this.engine = engine
  }

  /** A new copy of the site's database with a number of messages. */
  async copy (messages: number): Promise<string> {
    const url = this.#filled.get(messages) ?? await this.#fill(messages)
    this.#filled.set(messages, url)
    return this.#keep(await this.engine.copy(url))
  }

  /** A new database with the empty tables of some models. */
  async empty (models: readonly Model[]): Promise<string> {
    const url = this.#keep(await this.engine.create())
    const db = this.engine.open(url)
    await makeTables(db, models)
    await db.destroy()
    return url
  }

  async drop (url: string): Promise<void> {
    await this.engine.drop(url)
    this.#made.delete(url)
  }

  async dropAll (): Promise<void> {
    for (const url of this.#made) await this.drop(url)
  }

  async #fill (messages: number): Promise<string> {
    console.log(`making a database with ${messages.toLocaleString('en')} messages`)
    const url = this.#keep(await this.engine.create())
    const db = this.engine.open(url)
    await makeTables(db)
    await fillTables(db, messages)
    await db.destroy()
    return url
  }

  #keep (url: string): string {
    this.#made.add(url)
    return url
  }
}
