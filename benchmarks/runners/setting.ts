import type { Extent } from '../arguments.js'
import type { Side } from '../cases.js'
import type { Databases } from '../engines/databases.js'
import type { Cores } from '../processes/cores.js'
import { startServer, type Server, type ServerPlan } from '../processes/server.js'

/** Setting that all cases of a run share. */
export interface Setting {
  readonly databases: Databases
  readonly cores: Cores
  readonly extent: Extent
  /** Folder for CPU profiles. */
  readonly profile: string | undefined
  /** Folder of another commit, if ours is compared with that. */
  readonly other: string | undefined
}

export type Sides<Value> = readonly [ours: Value, against: Value]

/** Starts a server on a copy of the database, and removes both when the work is done. */
export async function withSide<Result> (setting: Setting, { server, policy, times, durability }: Omit<Side, 'requests'>, work: (server: Server) => Promise<Result>): Promise<Result> {
  const { databases, extent } = setting
  const database = await databases.copy(extent.rows * times)
  const folder = server === 'other' ? setting.other : undefined
  const file = server === 'baseline' ? `baseline-${databases.engine.name}` as const : server === 'other' ? 'ours' : server
  try {
    return await withServer(setting, { file, folder, database, policy, durability }, work)
  } finally {
    await databases.drop(database)
  }
}

/** Starts a server, and ends it when the work is done. */
export async function withServer<Result> (
  { cores, profile }: Setting, plan: Omit<ServerPlan, 'core' | 'profile'>, work: (server: Server) => Promise<Result>
): Promise<Result> {
  const server = await startServer({ ...plan, core: cores.server, profile })
  try {
    return await work(server)
  } finally {
    await server.end()
  }
}
