import { types } from 'node:util'

/**
 * Ignores the rejection of a promise that a function of the deployer returned although it must return none. Without
 * this, the rejection would end the process. Does nothing with any other value.
 */
export function ignoreRejection (value: unknown): void {
  if (types.isPromise(value)) value.catch(() => {})
}

/**
 * Requires that none of the values that a function of the deployer returned is a promise. The rejections of those that
 * are promises are ignored.
 *
 * @param source  the function, as the message names it, such as `beforeWrite of model 'Task'`
 * @throws TypeError naming the first value that is a promise
 */
export function requireNoPromises (source: string, values: ReadonlyArray<readonly [name: string, unknown]>): void {
  const found = values.find(([, value]) => types.isPromise(value))
  if (found === undefined) return
  for (const [, value] of values) ignoreRejection(value)
  throw new TypeError(`${source} gives a promise for '${found[0]}': an 'await' is missing`)
}

/** Does the same as {@link requireNoPromises} for what a hook returned, also within its lists and objects. */
export function requireNoPromisesWithin (source: string, returned: object): void {
  requireNoPromises(source, Object.entries(returned).flatMap(([name, value]) =>
    [...promisesIn(value)].map((promise) => [name, promise] as const)))
}

/** Yields the promises in a value. It is no recursion, because JSON of clients may be nested deeply. */
function * promisesIn (value: unknown): Generator<Promise<unknown>> {
  const found = new Set([value])
  for (const each of found) {
    if (types.isPromise(each)) yield each
    else if (typeof each === 'object' && each !== null) for (const inner of Object.values(each)) found.add(inner)
  }
}
