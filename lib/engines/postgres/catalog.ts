import { sql } from 'kysely'
import { described, isSafe, type Catalog } from '../catalog.js'

const { integer, number, text } = described

/** Condition for tables that are found by their bare names; https://www.postgresql.org/docs/15/catalogs.html */
const visible = sql`c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(c.oid)
  and c.relnamespace <> 'information_schema'::regnamespace and c.relnamespace <> 'pg_catalog'::regnamespace`

/** Catalog of PostgreSQL: queries for its tables, and the fields that its types would be. */
export const postgresCatalog: Catalog = {
  tables: sql`
    select c.relname as name, case when c.relispartition then 'partition'
      when c.relkind in ('r', 'p') then 'table'
      when c.relkind = 'v' then 'view' when c.relkind = 'm' then 'materialized view' else 'foreign table' end as kind
    from pg_class c where ${visible} order by c.relname`,
  columns: sql`
    select c.relname as "table", a.attname as name, t.typname as type,
      format_type(a.atttypid, a.atttypmod) as written,
      (not a.attnotnull)::int as nullable, (a.attgenerated <> '')::int as computed,
      coalesce(pg_get_expr(d.adbin, d.adrelid), t.typdefault) as declared,
      (pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname) is not null)::int
        as generated
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where ${visible} order by c.relname, a.attnum`,
  keys: sql`
    select c.relname as "table", i.indexrelid::text as key, a.attname as "column", i.indisprimary::int as "primary"
    from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indpred is null
    cross join unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) with ordinality k (number, position)
    left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
    where ${visible} order by c.relname, i.indexrelid, k.position`,
  references: sql`
    select c.relname as "table", r.conname as key, a.attname as "column",
      case when pg_table_is_visible(f.oid) then f.relname else '' end as target,
      b.attname as "targetColumn", case r.confdeltype when 'c' then 'cascade' when 'n' then 'set null'
        when 'd' then 'set default' else 'no action' end as "onDelete"
    from pg_class c
    join pg_constraint r on r.conrelid = c.oid and r.contype = 'f'
    join pg_class f on f.oid = r.confrelid
    cross join unnest(r.conkey, r.confkey) with ordinality k (number, target, position)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
    join pg_attribute b on b.attrelid = f.oid and b.attnum = k.target
    where ${visible} order by c.relname, r.conname, k.position`,
  indexed: sql`
    select c.relname as "table", a.attname as "column"
    from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisvalid and i.indpred is null
    join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
    where ${visible}`,
  completed: sql`
    select c.relname as "table" from pg_class c where ${visible} and (
      exists (select 1 from pg_trigger g where g.tgrelid = c.oid and g.tgtype & 7 = 7
        and not g.tgisinternal and g.tgenabled <> 'D')
      or exists (select 1 from pg_rewrite r where r.ev_class = c.oid and r.ev_type = '3' and r.is_instead))`,
  types: {
    int2: integer,
    int4: integer,
    int8: described.bigint,
    float4: number,
    float8: number,
    numeric: described.decimal,
    bool: described.boolean,
    timestamp: described.datetime,
    timestamptz: described.datetime,
    date: described.date,
    json: described.json,
    jsonb: described.json,
    uuid: described.uuid,
    text,
    varchar: text
  },
  fits: { key: isSafe }
}
