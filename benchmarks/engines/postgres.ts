import { openPostgres } from 'fastify-rest-models/postgres'
import { runSql } from '../../test/support/engines/sql.js'
import type { Engine } from './engine.js'
import { nameOf, newName, withName } from './names.js'

/** Makes databases on the server that a URL names. */
export function postgres (server: string): Engine {
  const settings = ['fsync', 'synchronous_commit', 'shared_buffers']
  return {
    name: 'postgres',
    describe: async () => {
      const [row] = await runSql(server, `select split_part(version(), ' on ', 1) as version, ${settings.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`)
      return [`${String(row?.['version'])}, ${settings.map((name) => `\`${name} = ${String(row?.[name])}\``).join(', ')}; 10 connections on both sides; its processes are not pinned`]
    },
    open: (url) => openPostgres(url, { statementTimeout: 0 }),
    create: async () => {
      const name = newName()
      await runSql(server, `create database ${name} template template0 encoding 'UTF8'`)
      return withName(server, name)
    },
    copy: async (url) => {
      const name = newName()
      await runSql(url, 'vacuum analyze', 60_000)
      await runSql(server, `create database ${name} template ${nameOf(url)}`, 60_000)
      return withName(server, name)
    },
    drop: async (url) => { await runSql(server, `drop database if exists ${nameOf(url)} with (force)`) }
  }
}
