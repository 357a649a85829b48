import { join } from 'node:path'
import { serverUser } from './owned-process.js'
import { freePort } from './free-port.js'
import {
  startServer, type PrivateServer, type ServerOptions, type ServerPlan, type Settings
} from './private-server.js'
import { requirePrograms } from './programs.js'
import { installFolder, type ServerFolder } from './server-folder.js'

const frugal = {
  'bind-address': '127.0.0.1',
  innodb_buffer_pool_size: '64M',
  innodb_log_file_size: '32M',
  'skip-name-resolve': 'ON'
}
const careless = { innodb_flush_log_at_trx_commit: 0 }

/** A private MariaDB with a database `test` and a superuser, `root`, who needs no password. */
export async function startMariadb ({ durable = false, settings = {} }: ServerOptions = {}): Promise<PrivateServer> {
  const folder = await installMariadb()
  return await startServer(planMariadb(folder, await freePort(), { ...durable ? {} : careless, ...settings }))
}

/** A folder with the data of a new MariaDB. */
export async function installMariadb (): Promise<ServerFolder> {
  const program = requirePrograms('mariadb')['mariadb-install-db']
  return await installFolder('mariadb', serverUser('mysql'), (data) => (
    [program, '--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal']
  ))
}

/** How to run MariaDB on a folder. */
export function planMariadb (folder: ServerFolder, port: number, settings: Settings): ServerPlan {
  // Left to itself, a server that starts removes the temporary files of the others.
  const places = {
    port,
    datadir: folder.data,
    tmpdir: folder.path,
    socket: join(folder.path, 'socket'),
    'pid-file': join(folder.path, 'pid')
  }
  const given = Object.entries({ ...frugal, ...settings, ...places })
  return {
    file: requirePrograms('mariadb').mariadbd,
    args: ['--no-defaults', ...given.map(([name, value]) => `--${name}=${value}`)],
    user: serverUser('mysql'),
    url: `mariadb://root@127.0.0.1:${port}/test`,
    port,
    folder,
    stopsWith: 'SIGTERM',
    endsAtOnce: 'SIGKILL'
  }
}
