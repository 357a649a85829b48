/**
 * Returns the options of a function, all of them known. An option whose value is undefined counts as absent, whatever
 * its name. Inherited options are looked at too, because functions read them: so an `AbortSignal` that is given in
 * place of `{ signal }` is refused.
 *
 * @param where  the function, such as `update()`: the start of the error's message
 * @param names  an object that has a property for each known option; the compiler requires all of them
 * @throws TypeError naming the first unknown option and those that are known
 */
export function requireKnown<Options extends object> (
  where: string, options: Options, names: Readonly<Record<keyof Options, true>>
): Options {
  for (const name in options) {
    // `Object.hasOwn` would refuse what a script of the page has added to `Object.prototype`.
    if (options[name] !== undefined && !(name in names)) {
      throw new TypeError(`${where} has an unknown option '${name}'; it takes '${Object.keys(names).join("', '")}'`)
    }
  }
  return options
}
