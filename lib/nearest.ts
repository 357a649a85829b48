import { closest } from 'fastest-levenshtein'

/** A name that is longer is no typing error, and would take long to compare. */
const maxLength = 100

/** `, did you mean 'x'?` for the most similar of the known names, or an empty text if there are none. */
export function suggestion (written: unknown, known: Iterable<string>): string {
  const names = [...known]
  return names.length === 0 || typeof written !== 'string' || written.length > maxLength ? '' : `, did you mean '${closest(written, names)}'?`
}
