import { closest, distance } from 'fastest-levenshtein'
import { errors } from './errors.js'

/**
 * UTF-16 units of the longest name that is compared with known names. A longer one gets no suggestion: it is not a
 * typing error, and takes long to compare.
 */
const maxNameLength = 100

/** Changed, missing or surplus characters with which a name is still near, if they are less than half of it. */
const maxEdits = 2
/** UTF-16 units of the shortest text for which a name is suggested that begins with it. */
const minBeginning = 3

/**
 * Returns `, did you mean 'x'?`, where x is the known name that is most similar to what was written. Returns an empty
 * text if no known name is near, or if what was written is not a text of at most 100 UTF-16 units.
 */
export function suggestion (written: unknown, known: Iterable<string>): string {
  const names = [...known]
  if (names.length === 0 || typeof written !== 'string' || written.length > maxNameLength) return ''
  const name = nearest(written, names)
  return name === undefined ? '' : `, did you mean '${name}'?`
}

/** Returns the most similar name, or the first that begins with what was written; undefined if neither is there. */
function nearest (written: string, names: readonly string[]): string | undefined {
  const name = closest(written, names)
  const edits = distance(written, name)
  if (edits <= maxEdits && edits < Math.max(written.length, name.length) / 2) return name
  return written.length < minBeginning ? undefined : names.find((other) => other.startsWith(written))
}

/**
 * Returns words such as `has an unknown option 'a', did you mean 'b'?` for the first unknown option. They are to follow
 * the name of what has the option. Returns undefined if all options are known. Its twin {@link requireKnown} throws.
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
 * @param where  what has the options, such as `openSqlite()`: the start of the error's message
 * @param names  an object that has a property for each known option, whatever its value; the compiler requires all of
 *   them
 * @throws REST_MODELS_INVALID_OPTIONS naming the first unknown option and the most similar known one
 */
export function requireKnown<Options extends object> (
  where: string, options: Options, names: Readonly<Record<keyof Options, unknown>>
): void {
  const fault = unknownOption(options, names)
  if (fault !== undefined) throw new errors.InvalidOptions(`${where} ${fault}`)
}
