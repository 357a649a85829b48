import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { bundleOptions } from '../test/support/bundle-script.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Lets a source find the files beside it: in a bundle, its URL is that of the bundle. */
const ownUrls: Plugin = {
  name: 'own-urls',
  setup ({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const url = JSON.stringify(pathToFileURL(path).href)
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url), loader: 'ts' }
    })
  }
}

/**
 * Makes bundles of the programs that {@link writeGroups} has written. What several of them import of the project
 * stands once, in files beside them, so that the coverage of all processes can be added up. A process takes a quarter
 * less of CPU time than if tsx compiles its modules one by one.
 */
export async function bundleTests (programs: readonly string[]): Promise<void> {
  await build({
    ...bundleOptions,
    splitting: true,
    minifyWhitespace: true,
    absWorkingDir: root,
    entryPoints: [...programs],
    outdir: dirname(programs[0] ?? '.'),
    outExtension: { '.js': '.mjs' },
    sourcemap: 'inline',
    sourcesContent: false,
    plugins: [ownUrls]
  })
}

/** The bundle of a program, which lies beside it. */
export const bundleOf = (program: string): string => program.replace(/ts$/, 'mjs')
