import { sql } from 'kysely'
import type { Catalog } from '../catalog.js'

/**
 * Condition for tables and views `c` that are found by their names without a schema, except those of PostgreSQL itself:
 * https://www.postgresql.org/docs/15/catalogs.html.
 */
export const visible = sql`c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(c.oid)
  and c.relnamespace <> 'information_schema'::regnamespace and c.relnamespace <> 'pg_catalog'::regnamespace`

/**
 * Queries for the command `migration`. They find the check constraints that it compares with the models, and the names
 * that no new index can have. They also find the columns that each unique index of a partitioned table must have.
 */
export const postgresObstacles = {
  // Django, too, names its checks like this. But createTables() makes all texts in the collation "C", as others seldom
  // do, and indexes whose names begin with that of the table and `__`. A migration adds such texts and indexes to
  // tables of others, so one text in another collation tells that somebody else made the table. The column of a foreign
  // key does not tell it, because it has the collation of the column that it refers to.
  checks: sql`
    select c.relname as "table", a.attname as "column", k.conname as name, pg_get_expr(k.conbin, c.oid) as text
    from pg_class c
    join pg_constraint k on k.conrelid = c.oid and k.contype = 'c' and cardinality(k.conkey) = 1
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
    cross join lateral (
      select coalesce(bool_and(o.attcollation = '"C"'::regcollation), false) as exact, count(*) as number
      from pg_attribute o
      where o.attrelid = c.oid and o.attnum > 0 and not o.attisdropped and o.attcollation <> 0 and not exists (
        select 1 from pg_constraint r where r.conrelid = c.oid and r.contype = 'f' and o.attnum = any(r.conkey))) texts
    where ${visible} and k.conname ~ '_check[0-9]*$' and (texts.exact or texts.number = 0 and exists (
      select 1 from pg_index i join pg_class n on n.oid = i.indexrelid
      where i.indrelid = c.oid and starts_with(n.relname, c.relname || '__')))`,
  indexNames: sql`
    select null as "table", c.relname as name from pg_class c
    where pg_table_is_visible(c.oid) and c.relnamespace <> 'pg_catalog'::regnamespace`,
  partitionColumns: sql`
    select c.relname as "table", coalesce(a.attname, pg_get_partkeydef(c.oid)) as "column"
    from pg_class c
    join pg_partitioned_table p on p.partrelid = c.oid
    cross join unnest(p.partattrs::int2[]) with ordinality k (number, position)
    left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
    where ${visible} order by c.relname, k.position`
} as const satisfies Partial<Catalog>
