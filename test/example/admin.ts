import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

export const adminFolder = resolve('examples/admin')
export const run = promisify(execFile)

/** Installs the packages of the example application, unless they are there as its lock file says. */
export async function installAdmin (): Promise<void> {
  const writtenAt = (file: string): number =>
    statSync(`${adminFolder}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (writtenAt('node_modules/.package-lock.json') > writtenAt('package-lock.json')) return
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: adminFolder })
}
