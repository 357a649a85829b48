import { spawnSync } from 'node:child_process'

/** The cores that the server and the load generator are pinned to; undefined if they are not. */
export interface Cores {
  readonly server: number | undefined
  readonly load: number | undefined
  /** The same in words. */
  readonly says: string
}

/** Returns two cores that this process may use, if there are two and `taskset` is installed to pin to them. */
export function findCores (): Cores {
  const { stdout } = spawnSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' })
  const list = /: ([\d,-]+)\s*$/.exec((stdout as string | null) ?? '')?.[1]
  if (list === undefined) return notPinned('`taskset` (of util-linux) is missing')
  const [server, load] = coresOf(list)
  if (server === undefined || load === undefined) return notPinned('there is one core only, which both share')
  return { server, load, says: `the server is pinned to core ${server}, the load generator to core ${load}` }
}

function notPinned (why: string): Cores {
  return { server: undefined, load: undefined, says: `**nothing is pinned**: ${why}` }
}

/** Parses a list of cores: `0-2,5` stands for 0, 1, 2 and 5. */
function coresOf (list: string): number[] {
  return list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
