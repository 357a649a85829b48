import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.js'
import { serverUser } from './owned-process.js'
import { startServer, type PrivateServer } from './private-server.js'
import { requirePrograms } from './programs.js'
import { makeFolder } from './server-folder.js'

/**
 * PgBouncer before a PostgreSQL: each transaction has whatever connection is free, of two.
 *
 * @param target    URL of the database, of a user who needs no password
 * @param more      more settings
 */
export async function startPgbouncer (
  target: string, more: Readonly<Record<string, string>> = {}
): Promise<PrivateServer> {
  const { hostname, port, username, pathname } = new URL(target)
  const own = await freePort()
  const user = serverUser('postgres')
  const folder = makeFolder('pgbouncer', user)
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: own,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: 2,
    ...more
  }
  const file = join(folder.path, 'pgbouncer.ini')
  const database = `* = host=${hostname} port=${port || 5432} user=${username}`
  writeFileSync(file, [
    '[databases]', database, '[pgbouncer]', ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
    ''
  ].join('\n'))
  return await startServer({
    file: requirePrograms('pgbouncer').pgbouncer,
    args: [file],
    user,
    url: `postgres://${username}@127.0.0.1:${own}${pathname}`,
    port: own,
    folder,
    stopsWith: 'SIGTERM',
    endsAtOnce: 'SIGKILL'
  })
}
