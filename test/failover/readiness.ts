import type { Test } from 'tap'
import { waitFor } from '../support/engines/wait-for.js'
import type { App } from './apps.js'

/** Waits until an app says that it is ready, or that it is not: within two seconds. */
export async function turns (t: Test, { address }: App, isReady: boolean): Promise<void> {
  const start = performance.now()
  await waitFor('readiness', async () => (await fetch(`${address}/readyz`)).ok === isReady)
  const took = performance.now() - start
  t.ok(took < 2000, `R-44: ${isReady ? 'ready' : 'not ready'} after ${Math.round(took)} ms`)
}
