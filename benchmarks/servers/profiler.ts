import { Session, type Profiler } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

/** Share of the processor time, from 0 to 1, that a function took by itself. */
export interface Share {
  /** Name of the function and its file. `(garbage collector)`, and `(program)` for native code, have no file. */
  readonly name: string
  readonly share: number
}

const idle = '(idle)'
const session = new Session()

export async function startProfile (): Promise<void> {
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
}

/** Ends the profile. @returns the functions that took most time, in descending order */
export async function endProfile (count: number): Promise<readonly Share[]> {
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  const times = selfTimes(profile)
  times.delete(idle)
  const all = [...times.values()].reduce((sum, time) => sum + time, 0)
  return [...times].map(([name, time]) => ({ name, share: time / all })).sort((a, b) => b.share - a.share).slice(0, count)
}

/** Microseconds by function. */
function selfTimes ({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, number> {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? idle
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0))
  }
  return times
}

function nameOf ({ functionName, url }: { readonly functionName: string, readonly url: string }): string {
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  const name = functionName === '' ? '(anonymous)' : functionName
  if (path === '') return name.startsWith('(') || name.length < 60 ? name : `${name.slice(0, 60)}…`
  return `${name} in ${path.replace(/^.*\/node_modules\//, '').replace(/^.*\/dist\//, '')}`
}
