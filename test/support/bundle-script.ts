import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { atExit } from './engines/at-exit.js'

/** Options of esbuild for one file of a program and of what it imports of the project. */
export const bundleOptions = {
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // What is imported for its effect alone stays: the package says of itself that nothing has any.
  ignoreAnnotations: true,
  logLevel: 'warning'
} as const

/** As deep in the project as the folders of `test`: a script finds what lies beside it from here, too. */
const folder = join('.tap', 'scripts')
const bundled = new Map<string, string>()

/**
 * Makes one file of a script and of what it imports of the project, once in a process, which removes it at its end.
 * Node starts it in a third of the CPU time that loading the modules one by one takes.
 *
 * @param path  of the script, absolute or from the root
 * @returns the path of the file
 */
export function bundleScript (path: string): string {
  const known = bundled.get(path)
  if (known !== undefined) return known
  const outfile = join(folder, `${path.replace(/\W/g, '-')}-${process.pid}.mjs`)
  buildSync({ ...bundleOptions, entryPoints: [path], outfile })
  atExit(() => { rmSync(outfile, { force: true }) })
  bundled.set(path, outfile)
  return outfile
}
