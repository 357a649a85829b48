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
 * Names the first unknown option and the most similar known one, in words that follow what has the option. Returns
 * undefined if all options are known.
 *
 * @param names  an object that has a property for each known option
 */
export function unknownOption (options: object, names: object): string | undefined {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name))
  return unknown === undefined
    ? undefined
    : `has an unknown option '${unknown}'${suggestion(unknown, Object.keys(names))}`
}

/**
 * Requires that all options are known.
 *
 * @param names  an object that has a property for each option, whatever its value; the compiler requires all of them
 * @throws REST_MODELS_INVALID_OPTIONS naming the first unknown option and the most similar known one
 */
export function requireKnown<Options extends object> (
  where: string, options: Options, names: Readonly<Record<keyof Options, unknown>>
): void {
  const fault = unknownOption(options, names)
  if (fault !== undefined) throw new errors.InvalidOptions(`${where} ${fault}`)
}
