import type { CompiledQuery, SelectQueryNode, UpdateQueryNode } from 'kysely'
import { LRUCache } from 'lru-cache'

/** Estimated bytes that the cache keeps: 2 MiB of all shapes, and 10 KiB of one. It keeps no larger shape. */
const maxShapesBytes = 2 * 2 ** 20
const maxShapeBytes = 10 * 2 ** 10

const selectNode: SelectQueryNode = Object.freeze({ kind: 'SelectQueryNode' })
const updateNode: UpdateQueryNode = Object.freeze({ kind: 'UpdateQueryNode' })

/** Compiled statements by their shape. Clients choose the shapes, so the least recently used ones go. */
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

/** Estimates the bytes of a shape: its name, its text and its parameters, and 500 for any shape. */
function bytesOf ({ sql, parameters }: CompiledQuery, shape: string): number {
  return 500 + shape.length + sql.length + 32 * parameters.length
}

/**
 * Keeps only the kind of a statement's tree, because nothing else of it is read. A whole tree takes many times as much
 * memory as the text.
 */
function withoutTree ({ query, queryId, sql, parameters }: CompiledQuery): CompiledQuery {
  return { query: query.kind === 'SelectQueryNode' ? selectNode : updateNode, queryId, sql, parameters }
}
