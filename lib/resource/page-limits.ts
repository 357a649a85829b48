import { errors } from '../errors.js'

/**
 * Records of one page: `defaultLimit` if the request has no `limit`; `maxLimit` is the greatest `limit` that is not
 * refused.
 */
export interface PageLimits {
  readonly defaultLimit: number
  readonly maxLimit: number
}

/**
 * Returns the page limits of options; a limit that is left out gets its default. If `defaultLimit` is left out, it is
 * lowered to `maxLimit` where that is smaller.
 */
export function checkLimits (where: string, options: Partial<PageLimits>, defaults: PageLimits): PageLimits {
  const { maxLimit = defaults.maxLimit } = options
  const { defaultLimit = Math.min(defaults.defaultLimit, maxLimit) } = options
  for (const [name, value] of Object.entries({ maxLimit, defaultLimit })) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new errors.InvalidOptions(`'${name}' of ${where} must be a whole number of at least 1`)
    }
  }
  if (defaultLimit > maxLimit) throw new errors.InvalidOptions(`'defaultLimit' of ${where} is more than its 'maxLimit'`)
  return { defaultLimit, maxLimit }
}
