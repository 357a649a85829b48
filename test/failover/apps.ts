import { once } from 'node:events'
import type { Test } from 'tap'
import { startWorker } from '../support/workers.js'

/** A process that serves a database. */
export interface App {
  readonly address: string
  isRunning (): boolean
  /** Closes it as a deployer would: the exit code and the signal, `[0, null]` if nothing was in the way. */
  close (): Promise<unknown[]>
}

/** @param readUrl  of a replica to read from */
export async function startApp (t: Test, url: string, readUrl?: string): Promise<App> {
  const { child, next, send } = startWorker<string>(
    t, 'failover/app.ts', url, ...readUrl === undefined ? [] : [readUrl]
  )
  return {
    address: await next(),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    close: async () => {
      const exit = once(child, 'exit')
      send('close')
      return await exit
    }
  }
}

/** Starts an app for each of two URLs. */
export async function startApps (t: Test, first: string, second: string): Promise<readonly [App, App]> {
  return await Promise.all([startApp(t, first), startApp(t, second)])
}
