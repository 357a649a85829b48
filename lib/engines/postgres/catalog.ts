import { sql } from 'kysely'
import { inheritedKind, isSafe, type Catalog } from '../catalog.js'
import { described, type TypeTable } from '../described-types.js'
import { postgresObstacles, visible } from './obstacles.js'
import { unlockedViews, unreturned } from './rules.js'

const { integer, number, text } = described

/**
 * Returns the function of the {@link TypeTable} for a type whose values are written as texts of at most `maxLength`
 * characters.
 */
const ofLength = (maxLength: number): TypeTable[string] => () => ({ kind: 'text', options: { maxLength } })

/**
 * Condition for tables `c` from which other tables inherit; partitions do not count. A statement on `c` also finds the
 * rows of these other tables. PostgreSQL enforces no key of `c` for those rows.
 */
const isInherited = sql`exists (
  select 1 from pg_inherits i join pg_class h on h.oid = i.inhrelid where i.inhparent = c.oid and not h.relispartition)`

/**
 * Condition for foreign keys `r` that PostgreSQL adds itself: if a foreign key refers to a partitioned table, it adds
 * another one to each partition. False for the foreign keys that a partition inherits from its partitioned table.
 */
const isForPartition = sql`exists (
  select 1 from pg_constraint p where p.oid = r.conparentid and p.conrelid = r.conrelid)`

/** Condition for schemas `n` that the database user may use, except those of PostgreSQL itself. */
const usable = sql`n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
  and has_schema_privilege(n.oid, 'usage')`

/**
 * Selected values that describe the type of a column `a`, as `ColumnRow` has them. For a domain, they describe the type
 * on which it is based. So does `referring`, the type for foreign keys to the column. A foreign key with the domain as
 * its type would have the default of the domain, and would refuse null if the domain refuses it.
 */
// With concat(), because string_agg() is null if an enumeration has no labels.
const typeValues = sql`
  case when t.typtype = 'e' then 'enum' else t.typname end as type, format_type(t.oid, null) as named,
  case when t.typtype = 'e' then (
    select concat('enum(', string_agg('''' || replace(replace(e.enumlabel, '\\', '\\\\'), '''', '''''') || '''', ','
      order by e.enumsortorder), ')')
    from pg_enum e where e.enumtypid = t.oid)
  else format_type(t.oid, coalesce(base.modifier, a.atttypmod)) end as written,
  format_type(t.oid, coalesce(base.modifier, a.atttypmod)) || case when a.attcollation = t.typcollation then ''
    else ' collate ' || cast(a.attcollation::regcollation as text) end as referring`

/**
 * Joins for a column `a`. `own` is its type. If `own` is a domain, `base` is the type on which it is based; otherwise
 * `base` is empty. A domain may be based on another domain: `base` is the last type of this chain, and `base.refuses`
 * is true if any domain of the chain refuses null. `t` is the type without domains: `base`, or otherwise `own`.
 */
const typeJoins = sql`
  join pg_type own on own.oid = a.atttypid
  left join lateral (
    with recursive chain (oid, modifier, refuses, depth) as (
      select own.typbasetype, own.typtypmod, own.typnotnull, 1 where own.typtype = 'd'
      union all
      select next.typbasetype, next.typtypmod, chain.refuses or next.typnotnull, chain.depth + 1
      from chain join pg_type next on next.oid = chain.oid and next.typtype = 'd')
    select oid, modifier, refuses from chain order by depth desc limit 1) base on true
  join pg_type t on t.oid = coalesce(base.oid, a.atttypid)`

/**
 * Condition for columns `a` of tables `c` that own a sequence: those of serial types and identity columns. Unlike
 * pg_get_serial_sequence(), it does not fail if another session has just dropped the table.
 */
const ownsSequence = sql`exists (
  select 1 from pg_depend p join pg_class s on s.oid = p.objid and s.relkind = 'S'
  where p.classid = 'pg_class'::regclass and p.refclassid = 'pg_class'::regclass and p.refobjid = c.oid
    and p.refobjsubid = a.attnum and p.deptype in ('a', 'i'))`

/**
 * Common table expression `changed` for the tables with triggers that may change a row after the statement has returned
 * it, or in place of a delete. Also for the partitioned tables of such partitions, and for the views of such tables.
 * Bits of tgtype: 1 for each row, 2 for BEFORE, 4 for INSERT, 8 for DELETE, 16 for UPDATE, 64 for INSTEAD OF.
 */
// It begins with the triggers, which are few, so that a database of many tables costs no more.
const changed = sql`changed (oid) as (
  select g.tgrelid from pg_trigger g where not g.tgisinternal and g.tgenabled <> 'D'
    and (g.tgtype & 2 = 0 and g.tgtype & 20 > 0 or g.tgtype & 11 = 11)
  union
  select above.oid from changed cross join lateral (
    select i.inhparent from pg_inherits i where i.inhrelid = changed.oid
    union all
    select r.ev_class from pg_depend d join pg_rewrite r on r.oid = d.objid
    where d.classid = 'pg_rewrite'::regclass and d.refclassid = 'pg_class'::regclass
      and d.refobjid = changed.oid) above (oid))`

/** Catalog of PostgreSQL: queries for its tables, and the fields that columns of its types become. */
export const postgresCatalog: Catalog = {
  tables: sql`
    select c.relname as name, case when c.relispartition then 'partition'
      when ${isInherited} then ${sql.lit(inheritedKind)}
      when c.relkind in ('r', 'p') then 'table'
      when c.relkind = 'v' then 'view' when c.relkind = 'm' then 'materialized view' else 'foreign table' end as kind,
      (c.relkind in ('v', 'm', 'f'))::int as view
    from pg_class c where ${visible} order by c.relname`,
  columns: sql`
    select c.relname as "table", a.attname as name, ${typeValues},
      (not (a.attnotnull or coalesce(base.refuses, false)))::int as nullable,
      (a.attgenerated <> '' or a.attidentity = 'a')::int as computed,
      coalesce(pg_get_expr(d.adbin, d.adrelid), own.typdefault) as declared,
      (${ownsSequence} or coalesce(pg_get_expr(d.adbin, d.adrelid), '') like 'nextval(%')::int as generated
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    ${typeJoins}
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
    where ${visible} and not ${isForPartition} order by c.relname, r.conname, k.position`,
  ...postgresObstacles,
  indexed: sql`
    select c.relname as "table", a.attname as "column"
    from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisvalid and i.indpred is null
    join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
    where ${visible}`,
  schemas: sql`select n.nspname as name from pg_namespace n where ${usable} order by n.nspname`,
  elsewhere: sql`
    select n.nspname as schema, c.relname as "table"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition and not pg_table_is_visible(c.oid) and ${usable}
    order by n.nspname, c.relname`,
  tablesWithTriggers: sql`
    select c.relname as "table" from pg_class c where ${visible} and (
      exists (select 1 from pg_trigger g where g.tgrelid = c.oid and g.tgtype & 7 = 7
        and not g.tgisinternal and g.tgenabled <> 'D')
      or exists (select 1 from pg_rewrite r where r.ev_class = c.oid and r.ev_type = '3' and r.is_instead))`,
  // Rules for deletes have the ev_type 4. Those of views are left out: rows of some views cannot be locked.
  tablesChangedLater: sql`
    with recursive ${changed}
    select c.relname as "table", null as "column" from pg_class c where ${visible} and (
      c.oid in (select oid from changed)
      or c.relkind <> 'v' and exists (
        select 1 from pg_rewrite r where r.ev_class = c.oid and r.ev_type = '4' and r.is_instead))`,
  unlockedViews,
  unreturned,
  // An identity column needs no grant for its sequence, and its default does not name it.
  deniedSequences: sql`
    select c.relname as "table", a.attname as "column", s.relname as sequence
    from pg_class c
    join pg_attrdef d on d.adrelid = c.oid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = d.adnum
    join pg_depend p on p.classid = 'pg_attrdef'::regclass and p.objid = d.oid and p.refclassid = 'pg_class'::regclass
    join pg_class s on s.oid = p.refobjid
    where ${visible} and case when s.relkind = 'S' then not has_sequence_privilege(s.oid, 'usage, update') end
    order by c.relname, a.attnum`,
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
    varchar: text,
    bpchar: text,
    citext: text,
    name: text,
    enum: described.enum,
    time: ofLength(15),
    timetz: ofLength(21),
    inet: ofLength(43),
    cidr: ofLength(43),
    macaddr: ofLength(17),
    macaddr8: ofLength(23)
  },
  fits: { key: isSafe }
}
