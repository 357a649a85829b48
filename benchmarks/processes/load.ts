import type { LoadOrder, LoadResult } from '../load/generate.js'
import { startChild } from './child.js'
import { compiledFile } from './compile.js'

/** The load generator. */
export interface Load {
  /** @throws if an answer was not a 2xx */
  run (order: LoadOrder): Promise<LoadResult>
  end (): Promise<void>
}

/** Requests per second of the slowest run that is waited for. */
const slowest = 200

export async function startLoad (core: number | undefined): Promise<Load> {
  const child = startChild(compiledFile('load/generate'), { core })
  await child.greeting
  return {
    run: async (order) => {
      const seconds = 'duration' in order.end ? order.end.duration : order.end.amount / slowest
      const result = await child.ask(order, seconds + 30) as LoadResult
      const faults = Object.entries(result.faults).map(([name, count]) => `${count} ${name}`)
      if (result.answered === 0) faults.push('no answer at all')
      if (faults.length > 0) throw new Error(`Under load: ${faults.join(', ')}`)
      return result
    },
    end: child.end
  }
}
