import { openMariadb } from 'fastify-rest-models/mariadb'
import { runSql } from '../../test/support/engines/sql.js'
import { makeTables } from '../site/fill.js'
import type { Engine } from './engine.js'
import { nameOf, newName, withName } from './names.js'

/** Makes databases on the server that a URL names. */
export function mariadb (server: string): Engine {
  const settings = ['innodb_flush_log_at_trx_commit', 'sync_binlog', 'innodb_buffer_pool_size']
  const open = (url: string) => openMariadb<Record<string, Record<string, unknown>>>(url, { statementTimeout: 0 })
  const create = async (): Promise<string> => {
    const name = newName()
    await runSql(server, `create database ${name} character set utf8mb4 collate utf8mb4_general_ci`)
    return withName(server, name)
  }
  return {
    name: 'mariadb',
    describe: async () => {
      const [row] = await runSql(server, `select version() as version, ${settings.map((name) => `@@${name} as ${name}`).join(', ')}`)
      return [`MariaDB ${String(row?.['version'])}, ${settings.map((name) => `\`${name} = ${String(row?.[name])}\``).join(', ')}; 10 connections on both sides; its threads are not pinned`]
    },
    open,
    create,
    copy: async (url) => {
      const copy = await create()
      const db = open(copy)
      await makeTables(db)
      await db.destroy()
      for (const table of ['user', 'message', 'comment']) {
        await runSql(server, `insert into ${nameOf(copy)}.${table} select * from ${nameOf(url)}.${table}`, 60_000)
        await runSql(server, `analyze table ${nameOf(copy)}.${table}`, 60_000)
      }
      return copy
    },
    drop: async (url) => { await runSql(server, `drop database if exists ${nameOf(url)}`) }
  }
}
