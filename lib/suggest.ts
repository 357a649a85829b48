import { closest } from 'fastest-levenshtein'
import { errors } from './errors.js'

/** A name that is longer is no typing error, and would take long to compare. */
const maxLength = 100

/** `, did you mean 'x'?` for the most similar of the known names, or an empty text if there are none. */
export function suggestion (written: unknown, known: Iterable<string>): string {
  const names = [...known]
  return names.length === 0 || typeof written !== 'string' || written.length > maxLength ? '' : `, did you mean '${closest(written, names)}'?`
}

/** @throws REST_MODELS_INVALID_OPTIONS naming the option that is not known and the nearest right one */
export function requireKnown (where: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new errors.InvalidOptions(`${where} has an unknown option '${name}'${suggestion(name, known)}`)
  }
}
