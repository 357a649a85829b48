import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from './sql.js'

/**
 * Asks again and again until the answer is true; a failure to answer counts as no. @throws after some time, naming what
 * did not come
 */
export async function waitFor (what: string, isSo: () => Promise<boolean>, milliseconds = 30_000): Promise<void> {
  const deadline = performance.now() + milliseconds
  for (let reason = 'the answer is no'; ; await sleep(20)) {
    try {
      if (await isSo()) return
    } catch (error) {
      reason = reasonOf(error)
    }
    if (performance.now() > deadline) throw new Error(`${what}: not within ${milliseconds} ms (${reason})`)
  }
}
