import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { isSafe, type Catalog, type ColumnRow } from '../catalog.js'
import { described, type TypeTable } from '../described-types.js'
import { otherFormIndex } from './moments.js'
import { affinity } from './affinity.js'

const { integer, bigint, number, decimal, text } = described
const none = () => undefined

/**
 * Functions for other types, by the affinity by which SQLite converts values. Types of texts and of bytes may have the
 * affinity `numeric`, too, so types of it become fields only if the catalog lists them.
 */
const byAffinity: TypeTable = {
  integer: ({ written }) => /big|64/i.test(written) ? bigint() : integer(), text, real: number
}

/**
 * Makes a function that returns a condition: true if the column's value is of one of the given types. A column of
 * SQLite may hold values of any type: https://www.sqlite.org/datatype3.html, section 2.
 */
const isOf = (...types: readonly string[]) => (column: Expression<unknown>): RawBuilder<SqlBool> =>
  sql`typeof(${column}) in (${sql.join(types.map((type) => sql.lit(type)))})`
const isInteger = isOf('integer')
const isNumber = isOf('integer', 'real')
const isText = isOf('text')

/** GLOB pattern of a date. */
const day = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'

/**
 * Returns the query for the columns of the tables in `list`, without the hidden columns of virtual tables. The query
 * fails for a view whose table was dropped, and for a virtual table of an extension that is not loaded.
 */
const columnsIn = (list: RawBuilder<unknown>) => sql<ColumnRow>`
  select l.name as "table", c.name, c.type, c.type as written, c."notnull" = 0 as nullable,
    c.hidden in (2, 3) as computed, c.dflt_value as declared,
    lower(c.type) = 'integer' and c.pk = 1 and l.wr = 0
      and (select count(*) from pragma_table_info(l.name) where pk > 0) = 1
      and not exists (select 1 from pragma_index_list(l.name) where origin = 'pk') as generated
  from ${list} l join pragma_table_xinfo(l.name) c
  where l.schema = 'main' and c.hidden <> 1 order by l.name, c.cid`

/** Returns the query for the columns of one table or view. */
// A long name of the index ends in a hash, so the index is recognized by its text. The indexes are listed once, because
// sqlite_schema is searched from its beginning to its end each time.
export const sqliteColumnsOf = (table: string) => sql<ColumnRow>`
  with own as materialized (select name, sql from sqlite_schema where type = 'index' and tbl_name = ${table})
  select *, exists (
    select 1 from own i
    where i.name = c."table" || '__' || c.name || ${sql.lit(`__${otherFormIndex}`)}
      or i.sql = printf('CREATE INDEX "%w" on "%w" ("%w") where "%w" not glob ''????-??-?? ??:??:??''',
        i.name, c."table", c.name, c.name)) as indexed
  from (${columnsIn(sql`pragma_table_list(${table})`)}) c`

/**
 * Catalog of SQLite: queries for its tables, and the fields that columns of its types become. The queries use the
 * table-valued functions of pragmas: https://www.sqlite.org/pragma.html.
 */
export const sqliteCatalog: Catalog = {
  tables: sql`
    select name, case when type in ('table', 'view') then type else type || ' table' end as kind, type = 'view' as view
    from pragma_table_list where schema = 'main' and name not like 'sqlite\\_%' escape '\\' order by name`,
  columns: columnsIn(sql`(select * from pragma_table_list where type = 'table')`),
  keys: sql`
    select l.name as "table", 'primary key' as key, c.name as "column", 1 as "primary", c.pk as position
    from pragma_table_list l join pragma_table_info(l.name) c where l.schema = 'main' and l.type = 'table' and c.pk > 0
    union all
    select l.name, i.name, c.name, 0, c.seqno
    from pragma_table_list l join pragma_index_list(l.name) i join pragma_index_info(i.name) c
    where l.schema = 'main' and l.type = 'table' and i."unique" and not i.partial and i.origin <> 'pk'
    order by 1, 2, 5`,
  references: sql`
    select l.name as "table", cast(r.id as text) as key, r."from" as "column", r."table" as target,
      r."to" as "targetColumn", r.on_delete as "onDelete"
    from pragma_table_list l join pragma_foreign_key_list(l.name) r
    where l.schema = 'main' and l.type = 'table' order by l.name, r.id, r.seq`,
  checks: sql`
    select name as "table", null as "column", null as name, sql as text from sqlite_schema where type = 'table'`,
  replacing: sql`
    select name as "table", sql as statement from sqlite_schema
    where type = 'table' and lower(sql) like '%conflict%replace%'`,
  tablesChangedLater: sql`select tbl_name as "table", null as "column" from sqlite_schema where type = 'trigger'`,
  indexed: sql`
    select l.name as "table", c.name as "column"
    from pragma_table_list l join pragma_index_list(l.name) i join pragma_index_info(i.name) c
    where l.schema = 'main' and l.type = 'table' and not i.partial and c.seqno = 0`,
  indexNames: sql`select null as "table", name from sqlite_schema where type in ('table', 'view', 'index')`,
  unalterable: sql`
    select name as "table", 'is strict' as why, 'text real integer' as types
    from pragma_table_list where schema = 'main' and strict`,
  types: {
    integer,
    int: integer,
    int2: integer,
    int4: integer,
    smallint: integer,
    mediumint: integer,
    tinyint: ({ digits: [length] }) => length === 1 ? described.boolean() : integer(),
    bigint,
    int8: bigint,
    'unsigned big int': bigint,
    // Django declares its positive integers like this.
    'integer unsigned': integer,
    'smallint unsigned': integer,
    'bigint unsigned': bigint,
    long: bigint,
    year: integer,
    real: number,
    float: number,
    float8: number,
    double: number,
    'double precision': number,
    decimal,
    numeric: decimal,
    dec: decimal,
    number: decimal,
    money: decimal,
    boolean: described.boolean,
    bool: described.boolean,
    bit: described.boolean,
    datetime: described.datetime,
    datetime2: described.datetime,
    smalldatetime: described.datetime,
    datetimeoffset: described.datetime,
    timestamp: described.datetime,
    timestamptz: described.datetime,
    'timestamp with time zone': described.datetime,
    date: described.date,
    json: described.json,
    jsonb: described.json,
    time: text,
    uuid: text,
    guid: text,
    uniqueidentifier: text,
    string: text,
    // A column may be declared without a type; then it is read as text of any length.
    '': text,
    text,
    clob: text,
    char: text,
    character: text,
    nchar: text,
    'native character': text,
    varchar: text,
    nvarchar: text,
    'varying character': text,
    'character varying': text,
    // These hold no integers, although their names have `int` in them.
    point: none,
    multipoint: none,
    interval: none
  },
  otherTypes: (type) => byAffinity[affinity(type.written)]?.(type),
  fits: {
    key: (column) => sql`${isInteger(column)} and ${isSafe(column)}`,
    boolean: (column) => sql`${isInteger(column)} and ${column} in (0, 1)`,
    integer: (column) => sql`${isInteger(column)} and ${column} between -2147483648 and 2147483647`,
    bigint: isInteger,
    number: isNumber,
    decimal: isNumber,
    text: isText,
    uuid: isText,
    // A blob is no text, and may be JSON in SQLite's own form.
    json: (column) => sql`${isOf('text', 'integer', 'real')(column)} and json_valid(${column})`,
    datetime: isText,
    date: (column) => sql`${isText(column)} and ${column} glob ${sql.lit(day)}`
  },
  hasTime: (column) => sql`${column} glob ${sql.lit(`${day}[ Tt][0-9][0-9]:*`)}`
}
