/** All connections to a node are in use: it serves, and no other would do. */
export class NoneIsFree extends Error {}

/** Several nodes that hold the same database, one of which is used as long as it serves, then the next. */
export class Nodes<Node> {
  readonly all: readonly [Node, ...Node[]]
  readonly #inUse = new Map<Node, number>()
  #current = 0

  constructor (nodes: readonly [Node, ...Node[]]) {
    this.all = nodes
  }

  /**
   * A connection to the node in use, or to the first of the others that gives one.
   *
   * @throws what the last node threw, if none gives a connection
   */
  async connect<Connection> (connectTo: (node: Node) => Promise<Connection>): Promise<Connection> {
    let failure: unknown
    for (let tried = 0; tried < this.all.length; tried++) {
      const node = this.all[this.#current] as Node
      try {
        return await connectTo(node)
      } catch (error) {
        if (error instanceof NoneIsFree) throw error
        failure = error
        this.leave(node)
      }
    }
    throw failure
  }

  /** How many connections to a node are in use. */
  inUse (node: Node): number {
    return this.#inUse.get(node) ?? 0
  }

  /** Takes note of a connection that is in use from now on, until the function that it gives is called. */
  use (node: Node): () => void {
    this.#inUse.set(node, this.inUse(node) + 1)
    return () => { this.#inUse.set(node, this.inUse(node) - 1) }
  }

  /** Goes on to the next node, unless this one has been left already. */
  leave (node: Node): void {
    if (this.all[this.#current] === node) this.#current = (this.#current + 1) % this.all.length
  }
}
