import type { CompiledQuery, SelectQueryNode, UpdateQueryNode } from 'kysely'
import { LRUCache } from 'lru-cache'

/**
 * Maximum size, in bytes and as {@link bytesOf} estimates it, of one cache of compiled statements: 2 MiB. A single
 * statement of more than 10 KiB is not kept, but compiled each time.
 */
const maxShapesBytes = 2 * 2 ** 20
const maxShapeBytes = 10 * 2 ** 10

const selectNode: SelectQueryNode = Object.freeze({ kind: 'SelectQueryNode' })
const updateNode: UpdateQueryNode = Object.freeze({ kind: 'UpdateQueryNode' })

/**
 * Cache of compiled statements by their shape: a text of all that the SQL depends on, without the values. Clients
 * choose the shapes, so at 2 MiB the least recently used statements are dropped.
 */
export type Shapes = LRUCache<string, CompiledQuery, Compile>

/** Compiles a statement: `memo(shape, { context: compile })` calls it if the cache does not have the shape. */
type Compile = () => CompiledQuery

/** Returns an empty cache. */
export function cacheShapes (): Shapes {
  return new LRUCache({
    maxSize: maxShapesBytes,
    maxEntrySize: maxShapeBytes,
    sizeCalculation: bytesOf,
    memoMethod: (_shape, _stale, { context: compile }) => withoutTree(compile())
  })
}

/** Estimates how many bytes a statement takes in the cache, with its shape. */
function bytesOf ({ sql, parameters }: CompiledQuery, shape: string): number {
  return 500 + shape.length + sql.length + 32 * parameters.length
}

/**
 * Returns a compiled statement that keeps of its syntax tree only whether it is a select, because nothing else of the
 * tree is read: any other statement gets the kind of an update. A whole tree takes many times as much memory as the
 * text.
 */
function withoutTree ({ query, queryId, sql, parameters }: CompiledQuery): CompiledQuery {
  return { query: query.kind === 'SelectQueryNode' ? selectNode : updateNode, queryId, sql, parameters }
}
