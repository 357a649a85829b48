import type { StartUpCase } from '../cases.js'
import type { Cores } from '../processes/cores.js'
import { manyModels } from '../site/many-models.js'
import { spreadOf, type Spread } from '../statistics.js'
import { withServer, type Setting } from './setting.js'

/** Time of a start. */
export interface StartUpResult {
  /** Milliseconds, by number of models. */
  readonly times: ReadonlyArray<{ readonly models: number, readonly milliseconds: Spread }>
  /** Milliseconds for one more model, from each number of models to the next. */
  readonly slopes: readonly number[]
}

/** Start-up is not pinned to a core, because a process then also compiles and collects garbage in other threads. */
const free: Cores = { server: undefined, load: undefined, says: '' }

/** Measures the time from the start of the process to the first answer, for each number of models in turns. */
export async function measureStartUp ({ models }: StartUpCase, setting: Setting): Promise<StartUpResult> {
  const sites: Array<{ models: number, database: string, times: number[] }> = []
  for (const count of models) sites.push({ models: count, database: await setting.databases.empty(manyModels(count)), times: [] })
  for (let round = 0; round < setting.extent.rounds; round++) {
    for (const site of sites) site.times.push(await startOnce(site, setting))
  }
  for (const { database } of sites) await setting.databases.drop(database)
  const times = sites.map(({ models, times }) => ({ models, milliseconds: spreadOf(times) }))
  return { times, slopes: slopesOf(times) }
}

function slopesOf (times: StartUpResult['times']): number[] {
  return times.slice(1).map(({ models, milliseconds }, index) => {
    const before = times[index] ?? { models: NaN, milliseconds: { median: NaN } }
    return (milliseconds.median - before.milliseconds.median) / (models - before.models)
  })
}

async function startOnce ({ models, database }: { readonly models: number, readonly database: string }, setting: Setting): Promise<number> {
  const start = performance.now()
  return await withServer({ ...setting, cores: free }, { file: 'many', database, durability: 'normal', models }, async ({ url }) => {
    const { status } = await fetch(`${url}/api/thing${models}/`)
    if (status !== 200) throw new Error(`The first answer is a ${status}`)
    return performance.now() - start
  })
}
