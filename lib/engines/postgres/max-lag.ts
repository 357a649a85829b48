import { errors } from '../../errors.js'
import { requireWholeNumber } from '../../suggest.js'
import type { ServerOptions } from '../server/server-options.js'

/** Option of openPostgres() that openMariadb() does not have. */
export interface MaxLag {
  /**
   * Milliseconds that a standby may lag behind its primary. A standby is not used if it lags more, follows no primary,
   * or cannot tell its lag. If absent, the lag does not matter.
   */
  readonly maxLag?: number
}

export const maxLagNames: Readonly<Record<keyof MaxLag, true>> = { maxLag: true }

/**
 * Checks `maxLag` (milliseconds), and returns it; returns an empty object if it is not given.
 *
 * @throws REST_MODELS_INVALID_OPTIONS if it is not a whole number of at least 1, or if `writable` is true, because no
 *   standby is used then
 */
export function checkMaxLag ({ maxLag }: MaxLag, { writable }: Required<ServerOptions>): MaxLag {
  if (maxLag === undefined) return {}
  const where = 'openPostgres()'
  requireWholeNumber(`'maxLag' of ${where}`, maxLag, 1)
  if (writable) throw new errors.InvalidOptions(`'maxLag' of ${where} is for hosts to read from: set 'writable: false'`)
  return { maxLag }
}
