import { sql } from 'kysely'
import { visible } from './obstacles.js'

/**
 * Query for the views of which `for update` locks no rows, because the view, or one that it reads, has `union` or
 * `with`. A view that PostgreSQL updates itself selects from one relation, so these words are in its conditions alone.
 */
// Bit 16 is DELETE. A rule, too, sets it.
export const unlockedViews = sql<{ table: string }>`
  with recursive read (oid, base) as (
    select c.oid, c.oid from pg_class c where ${visible} and c.relkind = 'v' and (
      pg_relation_is_updatable(c.oid, false) & 16 = 0
      or exists (select 1 from pg_rewrite r where r.ev_class = c.oid and r.ev_type <> '1'))
    union
    select read.oid, d.refobjid
    from read
    join pg_rewrite r on r.ev_class = read.base and r.ev_type = '1'
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass)
  select c.relname as "table" from pg_class c where c.oid in (
    select read.oid from read join pg_rewrite r on r.ev_class = read.base and r.ev_type = '1'
    where cast(r.ev_action as text) ~ ':(setOperations [{]|cteList [(])')`

/**
 * Query for the tables and views with a rule `do instead` for inserts or updates, but none that has `returning` and no
 * condition. PostgreSQL then refuses each such write that has `returning`, whatever its values.
 */
export const unreturned = sql<{ table: string, operation: 'create' | 'update' }>`
  select c.relname as "table", case r.ev_type when '3' then 'create' else 'update' end as operation
  from pg_class c join pg_rewrite r on r.ev_class = c.oid
  where ${visible} and r.ev_type in ('2', '3') and r.is_instead and r.ev_enabled <> 'D'
  group by c.oid, c.relname, r.ev_type
  having not bool_or(cast(r.ev_qual as text) = '<>' and cast(r.ev_action as text) ~ ':returningList [(]')`
