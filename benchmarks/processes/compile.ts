import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** Folder of the commit that these files are part of. */
export const ownFolder = fileURLToPath(new URL('../..', import.meta.url))

/** Files that run in processes of their own, and the files that they import. */
const compiled = ['servers', 'load', 'site', 'random.ts']

/**
 * Compiles the measured files in the folder of a commit to plain JavaScript. The loader that runs the other files would
 * wrap every named function, also those that a request creates.
 *
 * @throws if the library has not been built
 */
export function compile (folder: string): void {
  const source = join(folder, 'benchmarks')
  const library = join(folder, 'dist', 'lib')
  if (!existsSync(join(library, 'index.js'))) throw new Error(`There is no ${library}: run 'npm run build' first, or 'npm run benchmark'`)
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  for (const file of files.filter((name) => compiled.includes(name.split('/')[0] ?? ''))) {
    const { outputText } = ts.transpileModule(readFileSync(join(source, file), 'utf8'), {
      fileName: file,
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }
    })
    const target = join(folder, 'dist', 'benchmarks', file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, outputText)
  }
}

/** Returns the path of a compiled file, such as `servers/ours`. */
export function compiledFile (name: string, folder = ownFolder): string {
  return join(folder, 'dist', 'benchmarks', `${name}.js`)
}
