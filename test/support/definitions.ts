import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../lib/engines/executor.js'
import { engine } from './database.js'

/** A table, or a part of one, in the words of its engine. */
export type Definition = readonly [name: string, definition: string]

/** The tables and indexes of a database, as the engine itself describes them. */
export const definitions = { sqlite: ofSqlite, postgres: ofPostgres, mariadb: ofMariadb }[engine]

async function ofSqlite (db: Kysely<Tables>): Promise<Definition[]> {
  const { rows } = await sql<{ name: string, sql: string }>`select name, sql from sqlite_schema where sql is not null
    and name <> 'sqlite_sequence' order by rowid`.execute(db)
  return rows.map((row) => [row.name, row.sql])
}

/** PostgreSQL has no statement that made a table: a line for each column, constraint and other index. */
async function ofPostgres (db: Kysely<Tables>): Promise<Definition[]> {
  const { rows } = await sql<{ name: string, definition: string }>`
    select relname as name, 1 as kind, attnum as position, attname || ' ' || format_type(atttypid, atttypmod)
      || case attidentity when 'd' then ' identity' else '' end || coalesce(' collate ' || collname, '')
      || case when attnotnull then ' not null' else '' end
      || coalesce(' default ' || pg_get_expr(adbin, adrelid), '') as definition
    from pg_class c
    join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = c.oid and adnum = attnum
    left join pg_collation l on l.oid = attcollation and collname <> 'default'
    where relkind = 'r' and relnamespace = current_schema()::regnamespace
    union all
    select relname, 2, null, conname || ' ' || pg_get_constraintdef(k.oid)
    from pg_constraint k join pg_class c on c.oid = conrelid where connamespace = current_schema()::regnamespace
    union all
    select tablename, 3, null, indexname || regexp_replace(indexdef, '^.* USING', ' using')
    from pg_indexes where schemaname = current_schema() and indexdef not like '% UNIQUE %'
    order by name, kind, position, definition`.execute(db)
  return rows.map(({ name, definition }) => [name, definition])
}

async function ofMariadb (db: Kysely<Tables>): Promise<Definition[]> {
  const all: Definition[] = []
  for (const name of await tableNames(db)) {
    const { rows: [row] } = await sql<{ 'Create Table': string }>`show create table ${sql.table(name)}`.execute(db)
    all.push([name, String(row?.['Create Table']).replace(/ AUTO_INCREMENT=\d+/, '')])
  }
  return all
}

/** The names of all tables, in the order of the alphabet. */
export async function tableNames (db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables()
  if (engine !== 'postgres') return tables.map(({ name }) => name).sort()
  const { rows: [row] } = await sql<{ own: string }>`select current_schema() as own`.execute(db)
  return tables.filter(({ schema }) => schema === row?.own).map(({ name }) => name).sort()
}
