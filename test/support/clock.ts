import { setImmediate } from 'node:timers/promises'
import type { Test } from 'tap'
import { currentTurn } from '../../lib/engines/event-loop-turn.js'

/**
 * Stops `performance.now()` until the test ends, so that a machine that is slow for a moment changes nothing; gives
 * what puts it forward by milliseconds.
 */
export function stopClock (t: Test): (milliseconds: number) => void {
  let now = performance.now()
  t.intercept(performance, 'now', { value: () => now })
  return (milliseconds) => { now += milliseconds }
}

/** Waits for the next turn of the event loop. By then everything has run that was put off until the end of this one. */
export async function nextTurn (): Promise<void> {
  for (const turn = currentTurn(); currentTurn() === turn;) await setImmediate()
}
