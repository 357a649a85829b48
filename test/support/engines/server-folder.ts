import { execFile, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { atExit } from './at-exit.js'
import { surroundings, type ServerUser } from './owned-process.js'

/** A temporary folder of a server; its data are in the folder `data` in it. */
export interface ServerFolder {
  readonly path: string
  readonly data: string
  /** Removes it; it goes with this process at the latest. */
  remove (): void
}

/** Where Linux keeps files in memory. */
const memory = '/dev/shm'
/** Bytes. The servers of a run take a tenth of this; a container may have much less memory for files. */
const neededMemory = 2 ** 31

/** The folder of temporary files, in memory if there is room: there a server waits for no disk. */
function temporaryFolder (): string {
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= neededMemory ? memory : tmpdir()
}

export function makeFolder (name: string, user: ServerUser | undefined): ServerFolder {
  const path = mkdtempSync(join(temporaryFolder(), `rest-models-${name}-`))
  if (user !== undefined) chownSync(path, user.uid, user.gid)
  const forget = atExit(() => { removeLater(path) })
  return {
    path,
    data: join(path, 'data'),
    remove: () => {
      rmSync(path, { recursive: true, force: true, maxRetries: 5 })
      forget()
    }
  }
}

/**
 * Leaves it to another process: this one may have no time to wait until its server has ended and the files are removed.
 */
function removeLater (path: string): void {
  spawn('/bin/sh', ['-c', 'rm -rf "$0" || { sleep 1; rm -rf "$0"; }', path], { detached: true, stdio: 'ignore' })
    .unref()
}

/**
 * Makes a folder, and runs a program such as initdb that fills its `data`.
 *
 * @param command  returns the program and its arguments for the path of `data`
 * @throws Error with what the program printed, if it fails
 */
export async function installFolder (
  name: string, user: ServerUser | undefined, command: (data: string) => readonly [file: string, ...args: string[]]
): Promise<ServerFolder> {
  const folder = makeFolder(name, user)
  const [file, ...args] = command(folder.data)
  try {
    const { env, ...others } = surroundings()
    // MariaDB removes the temporary files of other servers from a folder that it starts in.
    await promisify(execFile)(file, args, { ...user, ...others, env: { ...env, TMPDIR: folder.path }, timeout: 30_000 })
    return folder
  } catch (error) {
    folder.remove()
    const { message, stdout = '' } = error as Error & { stdout?: string }
    throw new Error(`${message}\n${stdout}`, { cause: error })
  }
}
