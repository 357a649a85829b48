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
