import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, type Events } from '../../events/events.js'
import type { NodeMessage } from '../../events/messages.js'
import { NoConnection } from '../statement-failure.js'
import { reasonOf } from './connection-failure.js'

/**
 * Thrown when all connections of this process to a database server are in use, or all those that a read or a write may
 * take, and none becomes free in time. The server itself works, so no other server is tried.
 */
export class NoneIsFree extends NoConnection {
  readonly code = 'NO_CONNECTION'
}

/** Milliseconds that a node (database server) is given to answer before the next one is asked as well. */
const headStartMs = 250
/**
 * Minimum milliseconds between the beginnings of two searches for a usable node (database server). A search that comes
 * earlier waits.
 */
const minSearchIntervalMs = 100
/**
 * Milliseconds after which a check of the nodes (database servers) is old: if {@link Setting.isWatched} is true, the
 * next call for a connection then checks them again.
 */
const watchIntervalMs = 1000

interface Setting<Node> {
  /**
   * Asks a node (database server), on a connection that nobody else uses, if it is usable: for example, that it is no
   * standby if writes are wanted.
   *
   * @throws the reason if it is not usable
   */
  check (node: Node): Promise<void>
  /** True if an error says that a node (database server) works, but accepts no more connections. */
  isFull (error: unknown): boolean
  /**
   * True if the first usable node (database server) in the order of the URL is to be used: if the last check is more
   * than a second old, the next call for a connection checks the nodes again. False if a node is used as long as it is
   * usable, whatever its place in the URL.
   */
  readonly isWatched: boolean
  /** Gets the event `node` when a node is left or found, or when no node is usable. */
  readonly events?: Events
}

/**
 * Nodes (database servers) that hold the same database. One node is in use. If it fails, another usable node is looked
 * for and used. Each change of the node in use is published as an event.
 */
export class Nodes<Node extends { readonly name: string }> {
  readonly all: readonly [Node, ...Node[]]
  readonly #setting: Setting<Node>
  #current: Node | undefined
  /** Node (database server) that was used last; it may have failed since. */
  #last: Node | undefined
  #search: Promise<Node> | undefined
  /** Time of `performance.now()` at which a node was left, until a node is found again; otherwise undefined. */
  #leftAt: number | undefined
  #isNonePublished = false
  #searchedAt = -Infinity
  #foundAt = -Infinity

  constructor (nodes: readonly [Node, ...Node[]], setting: Setting<Node>) {
    this.all = nodes
    this.#setting = setting
    if (this.#isSearched()) return
    this.#current = nodes[0]
    this.#last = nodes[0]
  }

  /** The node in use. While another one is looked for: the node that was used last, or the first one if none was. */
  get used (): Node {
    return this.#current ?? this.#last ?? this.all[0]
  }

  /**
   * Returns a connection to the node (database server) in use or, if that gives none, to another usable one.
   *
   * @param connectTo  connects to a node, or throws. If it throws, it is called once more, after a search for a usable
   *   node; but not after NoneIsFree, and not if there is only one node and `isWatched` is false
   * @throws an error with the reason of each node if none is usable; otherwise what `connectTo` threw
   */
  async connect<Connection> (connectTo: (node: Node) => Promise<Connection>): Promise<Connection> {
    const node = this.#refreshCurrent() ?? await this.#find()
    try {
      const connection = await connectTo(node)
      if (this.#leftAt !== undefined && !this.#isSearched()) this.#publishFound(node)
      return connection
    } catch (error) {
      if (error instanceof NoneIsFree) throw error
      this.leave(node, codeOf(error))
      if (!this.#isSearched()) throw error
    }
    return await connectTo(await this.#find())
  }

  /**
   * Publishes that a node (database server) was left, and makes the next connection look for a usable one. With one
   * node whose role does not matter ({@link Setting.isWatched} is false) there is nothing to look for: the next
   * connection uses it again. Does nothing if this node is no longer in use.
   *
   * @param code  why the node is left, as events name it
   */
  leave (node: Node, code: string | null = null): void {
    if (this.#current !== node) return
    if (this.#leftAt === undefined) {
      this.#leftAt = performance.now()
      this.#publish({ state: 'left', node: node.name, previous: null, code })
    }
    if (this.#isSearched()) this.#current = undefined
  }

  #isSearched (): boolean {
    return this.all.length > 1 || this.#setting.isWatched
  }

  /**
   * Returns the node in use; undefined if a search for one must end first. If `isWatched` is true, the result of a
   * search is used for two seconds. A call after one second begins the next search, and still returns the node in use.
   */
  #refreshCurrent (): Node | undefined {
    if (!this.#setting.isWatched) return this.#current
    const age = performance.now() - this.#foundAt
    if (age > watchIntervalMs) this.#find().catch(() => {})
    return age > 2 * watchIntervalMs ? undefined : this.#current
  }

  /** Runs one search for all callers that wait. Without this, each caller would open connections to every node. */
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
      const previous = this.#last?.name ?? null
      if (!this.#isNonePublished) this.#publish({ state: 'none', node: null, previous, code: codeOf(failure) })
      this.#isNonePublished = true
      throw failureOf(order, failure as AggregateError)
    }
  }

  /**
   * Asks the nodes (database servers) in order: the next one when the one before has failed, or has not answered within
   * 250 ms. Returns the first one that answers that it is usable. If a node that stands before it in the order gives
   * the same answer later, the next connections use that node. Rejects with an AggregateError if none is usable.
   */
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
      const isUsable = attempt.then(() => true, () => false)
      if (await Promise.race([isUsable, sleep(headStartMs, false, { ref: false })])) break
    }
    return await Promise.any(attempts)
  }

  /**
   * Checks a node (database server); throws if it is not usable. The node used last passes even if it accepts no more
   * connections, because the connections that it accepted show that it works.
   */
  async #ask (node: Node): Promise<void> {
    try {
      await this.#setting.check(node)
    } catch (error) {
      if (node !== this.#last || !this.#setting.isFull(error)) throw error
    }
  }

  #use (node: Node, at: number): void {
    this.#current = node
    if (node !== this.#last || this.#leftAt !== undefined) this.#publishFound(node)
    this.#last = node
    this.#foundAt = at
  }

  #publishFound (node: Node): void {
    this.#publish({ state: 'found', node: node.name, previous: this.#last?.name ?? null, code: null })
    this.#leftAt = undefined
    this.#isNonePublished = false
  }

  #publish (message: Omit<NodeMessage, 'duration'>): void {
    const { events } = this.#setting
    const duration = this.#leftAt === undefined ? null : performance.now() - this.#leftAt
    events?.publish('node', { ...message, duration })
  }
}

function failureOf (nodes: ReadonlyArray<{ readonly name: string }>, { errors }: AggregateError): unknown {
  if (errors.length === 1) return errors[0]
  const reasons = nodes.map(({ name }, index) => `${name}: ${reasonOf(errors[index])}`)
  return new AggregateError(errors, `No host serves: ${reasons.join('; ')}`)
}
