import { closest, distance } from 'fastest-levenshtein'
import { errors } from './errors.js'

/**
 * UTF-16 units of the longest name that is compared with known names. A longer one gets no suggestion: it is not a
 * typing error, and takes long to compare.
 */
const maxNameLength = 100

/**
 * Maximum number of edits between a name that a deployer wrote and the name that is suggested, as a share of the length
 * of the longer one: 40 %.
 */
const maxDifference = 0.4
/**
 * Maximum number of edits (changed, missing or surplus characters) between a name that a client wrote and the name that
 * is suggested in its place. The number of edits must also be less than half of the length of the longer name.
 */
const maxEdits = 2
/** UTF-16 units of the shortest text for which a known name is suggested because it begins with that text. */
const minBeginning = 3

/**
 * Returns `, did you mean 'x'?`, where x is the known name that is most similar to what a deployer wrote, if it differs
 * in at most 40 % of the characters. Otherwise x is a known name that begins with what was written, or that has only
 * `_id` less: `user` for `user_id`. Returns an empty text if there is no such name, or if what was written is not a
 * text of at most 100 UTF-16 units.
 */
export function suggestion (written: unknown, known: Iterable<string>): string {
  return suggested(written, known, (edits, length) => edits <= maxDifference * length)
}

/**
 * Returns `, did you mean 'x'?` for a name that a client wrote. x is the most similar visible name, if {@link maxEdits}
 * permits it. Otherwise x is a visible name that begins with what was written, if that has at least 3 characters, or
 * that has only `_id` less. Returns an empty text if there is no such name. The caller leaves out hidden fields, so
 * that the answer does not reveal them.
 */
export function typoSuggestion (written: string, visible: Iterable<string>): string {
  return suggested(written, visible, (edits, length) => edits <= maxEdits && edits < length / 2)
}

/**
 * Maximum number of known names of filters or includes that are compared with an unknown one. Paths through foreign
 * keys can make any number of such names, so the limit bounds the cost of a wrong request.
 */
const maxCompared = 200

/** Returns the first {@link maxCompared} of the candidates for a suggestion. */
export function firstCandidates<Candidate> (candidates: Iterable<Candidate>): readonly Candidate[] {
  const first: Candidate[] = []
  for (const candidate of candidates) if (first.push(candidate) === maxCompared) break
  return first
}

function suggested (
  written: unknown, known: Iterable<string>, isNear: (edits: number, length: number) => boolean
): string {
  const names = [...known]
  if (names.length === 0 || typeof written !== 'string' || written.length > maxNameLength) return ''
  const nearest = closest(written, names)
  const name = isNear(distance(written, nearest), Math.max(written.length, nearest.length))
    ? nearest
    : beginningWith(written, names) ?? names.find((known) => written === `${known}_id`)
  return name === undefined ? '' : `, did you mean '${name}'?`
}

function beginningWith (written: string, names: readonly string[]): string | undefined {
  return written.length < minBeginning ? undefined : names.find((name) => name.startsWith(written))
}

/**
 * Returns words such as `has an unknown option 'a', did you mean 'b'?` for the first unknown option. The words are
 * meant to follow the name of the thing that has the options. Returns undefined if all options are known. Its twin
 * {@link requireKnown} throws.
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

/**
 * Requires that an option is a whole number of at least `least` and, if `most` is given, at most `most`.
 *
 * @param name  the start of the error's message, such as `'connections' of openPostgres()`
 * @throws REST_MODELS_INVALID_OPTIONS
 */
export function requireWholeNumber (name: string, value: number, least: number, most = Infinity): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return
  const bounds = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`
  throw new errors.InvalidOptions(`${name} must be a whole number ${bounds}`)
}

/**
 * Requires that an option is true or false.
 *
 * @param name  the start of the error's message, such as `'check' of openSqlite()`
 * @throws REST_MODELS_INVALID_OPTIONS
 */
export function requireBoolean (name: string, value: boolean): void {
  if (typeof value !== 'boolean') throw new errors.InvalidOptions(`${name} is true or false`)
}
