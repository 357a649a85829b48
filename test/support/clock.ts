import type { Test } from 'tap'

/**
 * Stops `performance.now()` until the test ends, so that a machine that is slow for a moment changes nothing; gives
 * what puts it forward by milliseconds.
 */
export function stopClock (t: Test): (milliseconds: number) => void {
  let now = performance.now()
  t.intercept(performance, 'now', { value: () => now })
  return (milliseconds) => { now += milliseconds }
}
