import type { CompiledQuery, SelectQueryNode, UpdateQueryNode } from 'kysely'
import { LRUCache } from 'lru-cache'

/** Bytes, roughly, that are kept of all shapes, and of one. */
const maxShapesBytes = 2 * 2 ** 20
const maxShapeBytes = 10 * 2 ** 10

const selectNode: SelectQueryNode = Object.freeze({ kind: 'SelectQueryNode' })
const updateNode: UpdateQueryNode = Object.freeze({ kind: 'UpdateQueryNode' })

/** Compiled statements by their shape. Clients choose the shapes, so the least used ones go. */
export class Shapes extends LRUCache<string, CompiledQuery> {
  constructor () {
    super({ maxSize: maxShapesBytes, maxEntrySize: maxShapeBytes, sizeCalculation: bytesOf })
  }

  /** Returns the statement of a shape, compiled when it is first asked for. */
  compileOnce (shape: string, compile: () => CompiledQuery): CompiledQuery {
    const known = this.get(shape)
    if (known !== undefined) return known
    const compiled = withoutTree(compile())
    this.set(shape, compiled)
    return compiled
  }
}

/** Estimates what a shape takes: its name, its text, its parameters, and what any shape takes. */
function bytesOf ({ sql, parameters }: CompiledQuery, shape: string): number {
  return 500 + shape.length + sql.length + 32 * parameters.length
}

/** Keeps the kind of a statement alone, which is all that is asked of its tree: a tree takes many times as much as the text. */
function withoutTree ({ query, queryId, sql, parameters }: CompiledQuery): CompiledQuery {
  return { query: query.kind === 'SelectQueryNode' ? selectNode : updateNode, queryId, sql, parameters }
}
