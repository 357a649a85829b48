import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * What the compiler says of files: a line, `path(line,column): error TS2322: …`, for each fault. They are compiled with
 * the settings of the project, and import the package as its users do if they lie in its folder.
 */
export function compile (paths: readonly string[], settings: object = {}): string[] {
  const folder = mkdtempSync(resolve('dist', 'compiled-'))
  const compilerOptions = { noEmit: true, rootDir: '/', ...settings }
  const files = paths.map((path) => resolve(path))
  try {
    const project = join(folder, 'tsconfig.json')
    writeFileSync(project, JSON.stringify({ extends: resolve('tsconfig.json'), compilerOptions, files, include: [] }))
    const compiler = [resolve('node_modules/.bin/tsc'), '--pretty', 'false', '-p', project]
    const { status, stdout, stderr } = spawnSync(process.execPath, compiler, { encoding: 'utf8' })
    if (status !== 0 && stdout === '') throw new Error(`The compiler ended with ${status}: ${stderr}`)
    return stdout.split(/\n(?=\S)/).map((fault) => fault.trim()).filter((fault) => fault !== '')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
