import { closest } from 'fastest-levenshtein'

/** `did you mean 'x'?` for the most similar of the known names, or an empty text if there are none. */
export function suggestion (written: string, known: Iterable<string>): string {
  const names = [...known]
  return names.length === 0 ? '' : `, did you mean '${closest(written, names)}'?`
}
