import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnOwned, type OwnedProcess, type Program } from './owned-process.js'
import type { ServerFolder } from './server-folder.js'
import { reasonOf, runSql } from './sql.js'

/** A database server of this process alone: on 127.0.0.1, in a temporary folder, gone when the process ends. */
export interface PrivateServer {
  readonly url: string
  readonly port: number
  readonly folder: string
  /** The server itself, a direct child; another one after each restart. */
  readonly child: ChildProcess
  /** The last lines that it printed. */
  output (): string
  /** Sends a signal that ends the server, and waits until it has ended. */
  kill (signal: NodeJS.Signals): Promise<void>
  /** Starts it again, on the same data and the same port. */
  restart (): Promise<void>
  /** Ends it, quickly rather than cleanly, and removes its folder. */
  stop (): Promise<void>
}

/** What every kind of private server can be asked for. */
export interface ServerOptions {
  /** Keeps what was committed through a crash of the server, which is slower; false if absent. */
  readonly durable?: boolean
  /** More settings of the server, as in its own configuration file. */
  readonly settings?: Settings
}

export type Settings = Readonly<Record<string, string | number>>

/** A server that is ready to be started. */
export interface ServerPlan extends Program {
  readonly url: string
  readonly port: number
  readonly folder: ServerFolder
  /** Added to `args`, but only at the first start. */
  readonly firstArgs?: readonly string[]
  readonly stopsWith: NodeJS.Signals
  /** Removes what a server that was killed has left outside of its folder. */
  readonly cleanUp?: () => void
  /** Asked again and again until its answer is true; a log-in if absent. */
  readonly isReady?: () => Promise<boolean>
}

const patience = 30_000

/** @throws with the last lines of its output if the server does not start, after 30 seconds at the latest */
export async function startServer (plan: ServerPlan): Promise<PrivateServer> {
  const { url, port, folder, args, firstArgs = [] } = plan
  let server = spawnOwned({ ...plan, args: [...args, ...firstArgs] })
  const stop = async (): Promise<void> => {
    await server.kill(plan.stopsWith)
    plan.cleanUp?.()
    folder.remove()
  }
  await orElse(stop, waitUntilReady(server, plan))
  return {
    url,
    port,
    folder: folder.path,
    get child () { return server.child },
    output: () => server.output(),
    kill: async (signal) => { await server.kill(signal) },
    restart: async () => { server = await startAgain(plan) },
    stop
  }
}

/** Waits; if that fails, cleans up before it throws. */
export async function orElse<Result> (cleanUp: () => Promise<void>, result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    await cleanUp()
    throw error
  }
}

/**
 * Tried for some time: the children of a server that was killed need a moment to notice, and hold its memory until
 * then.
 */
async function startAgain (plan: ServerPlan): Promise<OwnedProcess> {
  const deadline = performance.now() + 5000
  for (;;) {
    const server = spawnOwned(plan)
    try {
      await waitUntilReady(server, plan)
      return server
    } catch (error) {
      await server.kill(plan.endsAtOnce)
      if (performance.now() > deadline) throw error
      await sleep(100)
    }
  }
}

async function waitUntilReady (server: OwnedProcess, { file, isReady, url }: ServerPlan): Promise<void> {
  const deadline = performance.now() + patience
  const ask = isReady ?? (async () => (await runSql(url, 'select 1', 2000)).length === 1)
  for (let reason = 'it is not ready'; ;) {
    await sleep(20)
    if (server.hasEnded()) throw new Error(`${file} ended at its start:\n${server.output()}`)
    if (performance.now() > deadline) {
      throw new Error(`${file} did not start within ${patience / 1000} s (${reason}):\n${server.output()}`)
    }
    try {
      if (await ask()) return
    } catch (error) {
      reason = reasonOf(error)
    }
  }
}
