import { isForeignKey, type ForeignKeyColumn } from '../model/column.js'
import type { Model } from '../model/define-model.js'
import { withId } from '../model/key.js'
import { pathName, type Access, type Path } from './path.js'

/**
 * Yields the paths that a client may name, each once: the resource's own columns, then the paths of its option
 * `filterable`, then the columns of related models, the nearest first. Each further foreign key may multiply the number
 * of paths, so the caller may have to stop early.
 *
 * @param maxJoins  number of foreign keys that a path may follow
 * @param closed    related models that the client may not list
 */
export function * permittedPaths (access: Access, maxJoins: number, closed: ReadonlySet<Model>): Generator<Path> {
  const isReachable = ({ joins }: Path): boolean =>
    joins.length <= maxJoins && !joins.some(({ target }) => closed.has(target()))
  const listed = new Set<string>()
  for (const path of candidates(access, isReachable)) {
    const name = pathName(path)
    if (!listed.has(name)) yield path
    listed.add(name)
  }
}

function * candidates (access: Access, isReachable: (path: Path) => boolean): Generator<Path> {
  let level: ReadonlyArray<readonly ForeignKeyColumn[]> = [[]]
  let opened = [...access.opened.values()].filter(isReachable)
  while (level.length > 0) {
    const paths = level.map((joins) => openPaths(access, joins).filter(isReachable))
    for (const list of paths) yield * list
    yield * opened
    opened = []
    level = paths.flat().flatMap(({ joins, column }) => isForeignKey(column) ? [[...joins, column]] : [])
  }
}

/**
 * Returns the paths through `joins` to the columns at their end that a client may filter by. Without `joins`, these are
 * columns of the resource itself. The paths in `opened` are not among them.
 */
function openPaths ({ model, filterable, related }: Access, joins: readonly ForeignKeyColumn[]): Path[] {
  const reached = joins.at(-1)?.target() ?? model
  const open = joins.length === 0 ? filterable : related.get(reached)
  return withId(reached, reached.columns).filter((column) => open?.has(column)).map((column) => ({ joins, column }))
}
