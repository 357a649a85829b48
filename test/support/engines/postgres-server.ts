import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverUser } from './owned-process.js'
import { freePort } from './free-port.js'
import { startServer, type PrivateServer, type ServerOptions, type Settings } from './private-server.js'
import { requirePrograms } from './programs.js'
import { installFolder, type ServerFolder } from './server-folder.js'

const frugal = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '32MB',
  // In the folder, with which it goes even after a crash.
  dynamic_shared_memory_type: 'mmap'
}
const careless = { fsync: 'off', full_page_writes: 'off' }

/** A private PostgreSQL with one superuser, `postgres`, who needs no password. */
export async function startPostgres ({ durable = false, settings = {} }: ServerOptions = {}): Promise<PrivateServer> {
  const { initdb } = requirePrograms('postgres')
  const folder = await installFolder('postgres', serverUser('postgres'), (data) => (
    [initdb, '-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8']
  ))
  return await runPostgres(folder, { ...durable ? {} : careless, ...settings })
}

/** Starts PostgreSQL on a folder that has its data, on a free port. */
export async function runPostgres (folder: ServerFolder, settings: Settings): Promise<PrivateServer> {
  const port = await freePort()
  const given = Object.entries({ ...frugal, ...settings, port })
  return await startServer({
    file: requirePrograms('postgres').postgres,
    args: ['-D', folder.data, ...given.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    user: serverUser('postgres'),
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    folder,
    cleanUp: () => { removeSharedMemory(folder) },
    stopsWith: 'SIGQUIT',
    // It ends its own children, which a SIGKILL would leave to find out.
    endsAtOnce: 'SIGQUIT'
  })
}

/**
 * A killed server leaves its lock file, whose seventh line ends with the id of the shared memory that it leaves as
 * well.
 */
function removeSharedMemory ({ data }: ServerFolder): void {
  const lock = join(data, 'postmaster.pid')
  const id = existsSync(lock) ? readFileSync(lock, 'utf8').split('\n')[6]?.trim().split(/\s+/)[1] : undefined
  if (id !== undefined) spawnSync('ipcrm', ['-m', id])
}
