import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { NodeMessage, RetryMessage, StatementMessage } from '../../lib/index.js'
import { startWorker } from '../support/workers.js'

/** A line of the log. */
export type Line = Readonly<Record<string, unknown>>

/** What the channels have told an app. */
export interface Messages {
  readonly node: readonly NodeMessage[]
  readonly retry: readonly RetryMessage[]
  readonly statement: readonly StatementMessage[]
}

/** A process that serves a database. */
export interface App {
  readonly address: string
  isRunning (): boolean
  /** What it has logged. */
  log (): readonly Line[]
  messages (): Promise<Messages>
  /** Closes it as a deployer would: the exit code and the signal, `[0, null]` if nothing was in the way. */
  close (): Promise<unknown[]>
}

/** @param readUrl  of a replica to read from */
export async function startApp (t: Test, url: string, readUrl?: string): Promise<App> {
  const folder = mkdtempSync(join(tmpdir(), 'failover-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const log = join(folder, 'log')
  const { child, next, send } = startWorker<string>(
    t, 'failover/app.ts', url, log, ...readUrl === undefined ? [] : [readUrl]
  )
  const address = await next()
  return {
    address,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    log: () => readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Line),
    messages: async () => await (await fetch(`${address}/messages`)).json() as Messages,
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
