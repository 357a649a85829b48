import { setTimeout as sleep } from 'node:timers/promises'

/** Thrown when all connections to a node are in use. The node serves, so that no other one is tried. */
export class NoneIsFree extends Error {}

/** Milliseconds that a node is given before the next one is asked as well. */
const headStartMs = 250
/** Milliseconds between the beginnings of two searches. */
const minSearchIntervalMs = 100
/** Milliseconds after which nodes that are watched are looked at again. */
const watchIntervalMs = 1000

interface Setting<Node> {
  /** Asks a node on a connection of its own. @throws the reason if it does not serve */
  check (node: Node): Promise<void>
  /** True if an error says that a node serves, but accepts no more connections. */
  isFull (error: unknown): boolean
  /** True if the first node that serves is always used; otherwise a node is kept as long as it serves. */
  readonly isWatched: boolean
}

/** Nodes that hold the same database. One of them is in use. */
export class Nodes<Node extends { readonly name: string }> {
  readonly all: readonly [Node, ...Node[]]
  readonly #setting: Setting<Node>
  #current: Node | undefined
  /** Node that was used last; it may have stopped serving. */
  #last: Node | undefined
  #search: Promise<Node> | undefined
  #searchedAt = -Infinity
  #foundAt = -Infinity

  constructor (nodes: readonly [Node, ...Node[]], setting: Setting<Node>) {
    this.all = nodes
    this.#setting = setting
    if (!this.#isSearched()) this.#current = nodes[0]
  }

  /**
   * Returns a connection to the node in use or, if that gives none, to another one that serves.
   *
   * @throws an error with the reason of each node if none serves
   */
  async connect<Connection> (connectTo: (node: Node) => Promise<Connection>): Promise<Connection> {
    const node = this.#known() ?? await this.#find()
    try {
      return await connectTo(node)
    } catch (error) {
      if (error instanceof NoneIsFree || !this.#isSearched()) throw error
      this.leave(node)
    }
    return await connectTo(await this.#find())
  }

  /** Makes the next connection look for a node that serves, if this node is still in use. */
  leave (node: Node): void {
    if (this.#current === node && this.#isSearched()) this.#current = undefined
  }

  #isSearched (): boolean {
    return this.all.length > 1 || this.#setting.isWatched
  }

  /**
   * Returns the node in use. If nodes are watched, it is unknown after two seconds; after one second, a search for the
   * next connections begins.
   */
  #known (): Node | undefined {
    if (!this.#setting.isWatched) return this.#current
    const age = performance.now() - this.#foundAt
    if (age > watchIntervalMs) this.#find().catch(() => {})
    return age > 2 * watchIntervalMs ? undefined : this.#current
  }

  /** Runs one search for all who wait. Otherwise each of them would open connections to every node. */
  #find (): Promise<Node> {
    this.#search ??= this.#look().finally(() => { this.#search = undefined })
    return this.#search
  }

  async #look (): Promise<Node> {
    const pause = this.#searchedAt + minSearchIntervalMs - performance.now()
    if (pause > 0) await sleep(pause)
    this.#searchedAt = performance.now()
    const first = this.#setting.isWatched ? undefined : this.#last
    const order = first === undefined ? this.all : [first, ...this.all.filter((node) => node !== first)]
    try {
      return await this.#firstOf(order)
    } catch (failure) {
      this.#current = undefined
      throw failureOf(order, failure as AggregateError)
    }
  }

  /** Asks the next node when the one before fails or is slow. An earlier one that serves after all is preferred. */
  async #firstOf (order: readonly Node[]): Promise<Node> {
    let best = Infinity
    const start = this.#searchedAt
    const attempts: Array<Promise<Node>> = []
    for (const [rank, node] of order.entries()) {
      const attempt = this.#ask(node).then(() => {
        if (rank < best) this.#use(node, start)
        best = Math.min(best, rank)
        return node
      })
      attempts.push(attempt)
      const serves = attempt.then(() => true, () => false)
      if (await Promise.race([serves, sleep(headStartMs, false, { ref: false })])) break
    }
    return await Promise.any(attempts)
  }

  /** Checks a node. If the node used last is full, it passes: those who are connected to it know that it serves. */
  async #ask (node: Node): Promise<void> {
    try {
      await this.#setting.check(node)
    } catch (error) {
      if (node !== this.#last || !this.#setting.isFull(error)) throw error
    }
  }

  #use (node: Node, at: number): void {
    this.#current = node
    this.#last = node
    this.#foundAt = at
  }
}

function failureOf (nodes: ReadonlyArray<{ readonly name: string }>, { errors }: AggregateError): unknown {
  if (errors.length === 1) return errors[0]
  const reasons = nodes.map(({ name }, index) => `${name}: ${reasonOf(errors[index])}`)
  return new AggregateError(errors, `No host serves: ${reasons.join('; ')}`)
}

/**
 * Returns the message of an error; the drivers name no password. The error for several addresses of one host has an
 * empty message, so that its code stands in.
 */
function reasonOf (error: unknown): string {
  const { message, code } = error as { readonly message: string, readonly code?: unknown }
  return message === '' ? String(code) : message
}
