import { types } from 'node:util'

/**
 * Ignores the rejection of a promise that a function of the deployer returned although it must return none. Without
 * this, the rejection would end the process. Does nothing with any other value.
 */
export function ignoreRejection (value: unknown): void {
  if (types.isPromise(value)) value.catch(() => {})
}
