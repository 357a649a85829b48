import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const source = fileURLToPath(new URL('..', import.meta.url))
const root = dirname(source.replace(/\/$/, ''))
const folder = join(root, 'dist', 'benchmarks')

/** Files that run in processes of their own, and the files that they import. */
const compiled = ['servers', 'load', 'site', 'random.ts']

/**
 * Compiles the measured files to plain JavaScript. The loader that runs the other files would wrap every named function,
 * also those that a request creates.
 *
 * @throws if the library has not been built
 */
export function compile (): void {
  if (!existsSync(join(root, 'dist', 'lib', 'index.js'))) throw new Error("There is no dist/lib: run 'npm run build' first, or 'npm run benchmark'")
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  for (const file of files.filter((name) => compiled.includes(name.split('/')[0] ?? ''))) {
    const { outputText } = ts.transpileModule(readFileSync(join(source, file), 'utf8'), {
      fileName: file,
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }
    })
    const target = join(folder, file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, outputText)
  }
}

/** Returns the path of a compiled file, such as `servers/ours`. */
export function compiledFile (name: string): string {
  return join(folder, `${name}.js`)
}
