import { parseArgs } from 'node:util'

/**
 * Numbers of the command line, such as `--rounds=5`; those that are not given as in `defaults`. @throws with what is
 * wrong, for a person
 */
export function readNumbers<Name extends string> (defaults: Readonly<Record<Name, number>>): Record<Name, number> {
  const names = Object.keys(defaults) as Name[]
  const { values } = parseArgs({
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  })
  return Object.fromEntries(names.map((name) => {
    const number = Number(values[name] ?? defaults[name])
    if (!(number > 0)) throw new Error(`--${name} takes a number above 0`)
    return [name, number]
  })) as Record<Name, number>
}
