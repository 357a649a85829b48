import { closest } from 'fastest-levenshtein'
import { errors } from './errors.js'

/** UTF-16 units of the longest name that is compared: a longer one is not a typing error, and takes long to compare. */
const maxNameLength = 100

/**
 * Returns `, did you mean 'x'?` with the most similar of the known names. Returns an empty text if no name is known, or
 * if what was written is not a text of at most 100 units.
 */
export function suggestion (written: unknown, known: Iterable<string>): string {
  const names = [...known]
  if (names.length === 0 || typeof written !== 'string' || written.length > maxNameLength) return ''
  return `, did you mean '${closest(written, names)}'?`
}

/**
 * Requires that all options are known.
 *
 * @throws REST_MODELS_INVALID_OPTIONS naming the first unknown option and the most similar known one
 */
export function requireKnown (where: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    throw new errors.InvalidOptions(`${where} has an unknown option '${name}'${suggestion(name, known)}`)
  }
}
