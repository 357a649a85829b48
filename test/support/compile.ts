import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Declarations that were read before: those of packages, of which there are hundreds. */
const declarations = new Map<string, ts.SourceFile | undefined>()

/** What the compiler says of files, with the settings of the project; they import the package as its users do. */
export function compile (...paths: readonly string[]): string[] {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: paths }, ts.sys, root)
  const wanted = { ...options, rootDir: '/', noEmit: true, noUnusedLocals: true }
  const program = ts.createProgram(paths, wanted, hostFor(wanted))
  return ts.getPreEmitDiagnostics(program)
    .map(({ messageText, file }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
}

function hostFor (options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile.bind(host)
  host.getSourceFile = (path, ...rest) => {
    if (!path.includes('/node_modules/')) return read(path, ...rest)
    if (!declarations.has(path)) declarations.set(path, read(path, ...rest))
    return declarations.get(path)
  }
  return host
}
