import { LRUCache } from 'lru-cache'

/**
 * Maximum number of characters of the statements that are remembered for rows as objects, and for rows as arrays. Those
 * not used for the longest time are forgotten.
 */
const maxRemembered = 2 ** 20

/** A statement as the driver takes it, without its values. */
export interface DriverQuery {
  readonly text: string
  /** Name under which the connection prepares the statement; undefined if it is not to be prepared. */
  readonly name?: string | undefined
  /** `array` if each row is to be an array of its values, otherwise undefined. */
  readonly rowMode?: 'array' | undefined
}

const rememberStatements = () => new LRUCache<string, DriverQuery>({
  maxSize: maxRemembered, sizeCalculation: ({ text }) => text.length
})
/** Statements whose rows come as objects, by their names. */
const forObjects = rememberStatements()
/** Statements whose rows come as arrays, by their names. */
const forArrays = rememberStatements()

/**
 * Returns the same statement as a new object, to which the driver may add properties. The driver copies each own
 * property of a statement by its descriptor, which takes 2 to 4 µs. If the statement has a name, the new object has
 * none to copy: it inherits them from an equal statement that is remembered. Without a name, it has only those that are
 * not undefined.
 */
export function inheritingQuery (query: DriverQuery): DriverQuery {
  const { text, name, rowMode } = query
  if (name === undefined) return rowMode === undefined ? { text } : { text, rowMode }
  const remembered = rowMode === 'array' ? forArrays : forObjects
  const equal = remembered.get(name) ?? query
  if (equal === query) remembered.set(name, equal)
  return Object.create(equal) as DriverQuery
}
