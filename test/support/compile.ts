import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What the compiler says of files, with the settings of the project; they import the package as its users do. */
export function compile (...paths: readonly string[]): string[] {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: paths }, ts.sys, root)
  const program = ts.createProgram(paths, { ...options, rootDir: '/', noEmit: true, noUnusedLocals: true })
  return ts.getPreEmitDiagnostics(program)
    .map(({ messageText, file }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
}
