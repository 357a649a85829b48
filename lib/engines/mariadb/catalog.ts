import { sql, type RawBuilder } from 'kysely'
import { isSafe, type Catalog } from '../catalog.js'
import { described, type TypeTable } from '../described-types.js'
import { defaultText } from './default-text.js'
import { exactCollation, toStandardTexts } from './texts.js'

const { bigint, number, text } = described

/**
 * Returns the field for a column of type `int`: a bigint field if the type is unsigned, because its numbers may be too
 * large for an integer field; otherwise an integer field.
 */
const integer: TypeTable[string] = ({ written }) => written.includes('unsigned') ? bigint() : described.integer()
/**
 * Returns the function of the {@link TypeTable} for a type whose values are texts of at most `maxLength` bytes. Its
 * text field permits as many characters, because each character takes at least one byte.
 */
const ofBytes = (maxLength: number): TypeTable[string] => () => ({ kind: 'text', options: { maxLength } })
const long: TypeTable[string] = () => ({ kind: 'text', options: {} })

/**
 * Returns the function of the {@link TypeTable} for a type with labels. The function returns the field that `describe`
 * makes. But if a label holds `?`, it returns a text field without labels: information_schema also shows `?` for each
 * character beyond U+FFFF, so the label is not certain.
 */
const ofLabels = (describe: TypeTable[string]): TypeTable[string] => (type) => {
  if (!type.written.includes('?')) return describe(type)
  const loss = `is ${type.written}, where '?' may stand for a character beyond U+FFFF, so the model knows no labels; ` +
    'the API does not write those with such characters'
  return { kind: 'text', options: {}, loss }
}

/** Returns SQL for the name of a column as MariaDB writes it in expressions: in backticks. */
const inBackticks = (name: RawBuilder<string>) => sql`concat('\`', replace(${name}, '\`', '\`\`'), '\`')`

/**
 * Catalog of MariaDB: queries for its tables, and the fields that columns of its types become. The queries read
 * information_schema: https://mariadb.com/kb/en/information-schema-tables/.
 */
export const mariadbCatalog: Catalog = {
  tables: sql`
    select table_name as name,
      case when table_type in ('BASE TABLE', 'SYSTEM VERSIONED') then 'table' else lower(table_type) end as kind,
      table_type = 'VIEW' as view
    from information_schema.tables where table_schema = database() order by table_name`,
  // A year(2) shows two digits and stores four, so it is a type of its own: an answer would not be what was written.
  // The schema of the constraints is given by a constant; compared with that of the column, MariaDB would read those of
  // all databases. Names that differ only in case or accents are equal for information_schema, but not for tables.
  columns: sql`
    select c.table_name as \`table\`, c.column_name as name,
      if(c.column_type = 'year(2)', c.column_type, c.data_type) as type, c.is_nullable = 'YES' as nullable,
      (c.extra like '%auto_increment%' or coalesce(c.column_default, '') like 'nextval(%') as generated,
      c.is_generated <> 'NEVER' as computed, ${defaultText} as declared,
      case when k.check_clause is null then c.column_type else 'json' end as written, c.collation_name as collation,
      case when c.data_type in ('tinyint', 'smallint', 'mediumint', 'int', 'bigint')
          then concat(c.data_type, case when c.column_type like '%unsigned%' then ' unsigned' else '' end)
        when c.character_set_name is null then c.column_type
        else concat(c.column_type, ' character set ', c.character_set_name, ' collate ', c.collation_name)
      end as referring
    from information_schema.columns c
    left join information_schema.check_constraints k
      on k.constraint_schema = database() and k.table_name = c.table_name and k.constraint_name = c.column_name
      and binary k.table_name = binary c.table_name
      and binary k.check_clause = binary concat('json_valid(\`', c.column_name, '\`)')
    where c.table_schema = database() order by c.table_name, c.ordinal_position`,
  // MariaDB adds the end of a row's validity to each unique index. Of the valid rows, the other columns are unique.
  keys: sql`
    select s.table_name as \`table\`, index_name as \`key\`, index_name = 'PRIMARY' as \`primary\`,
      case when sub_part is null then column_name end as \`column\`
    from information_schema.statistics s join information_schema.columns c using (table_schema, table_name, column_name)
    where table_schema = database() and non_unique = 0 and binary c.table_name = binary s.table_name
      and coalesce(generation_expression, '') <> 'ROW END' order by s.table_name, index_name, seq_in_index`,
  references: sql`
    select k.table_name as \`table\`, k.constraint_name as \`key\`, k.column_name as \`column\`,
      r.delete_rule as \`onDelete\`,
      case when k.referenced_table_schema = database() then k.referenced_table_name else '' end as target,
      k.referenced_column_name as \`targetColumn\`
    from information_schema.key_column_usage k
    join information_schema.referential_constraints r
      on r.constraint_schema = k.constraint_schema and r.table_name = k.table_name
      and r.constraint_name = k.constraint_name
    where k.table_schema = database() and k.referenced_table_name is not null
    order by k.table_name, k.constraint_name, k.ordinal_position`,
  // createTables() makes tables in this collation, which others seldom choose.
  checks: sql`
    select k.table_name as \`table\`, k.constraint_name as \`column\`, null as name, k.check_clause as text
    from information_schema.check_constraints k
    join information_schema.tables t on t.table_schema = k.constraint_schema and t.table_name = k.table_name
    where k.constraint_schema = database() and k.level = 'Column' and t.table_collation = ${sql.lit(exactCollation)}`,
  indexed: sql`
    select table_name as \`table\`, column_name as \`column\` from information_schema.statistics
    where table_schema = database() and seq_in_index = 1`,
  indexNames: sql`
    select table_name as \`table\`, index_name as name from information_schema.statistics
    where table_schema = database() and seq_in_index = 1`,
  // An expression writes each column in backticks; it is empty if the primary key partitions the table.
  partitionColumns: sql`
    select distinct p.table_name as \`table\`, c.column_name as \`column\`, c.ordinal_position
    from information_schema.partitions p
    join information_schema.columns c on c.table_schema = p.table_schema and c.table_name = p.table_name
    where p.table_schema = database() and p.partition_method <> 'SYSTEM_TIME' and (
      instr(concat(p.partition_expression, coalesce(p.subpartition_expression, '')),
        ${inBackticks(sql`c.column_name`)}) > 0
      or '' in (p.partition_expression, p.subpartition_expression) and c.column_key = 'PRI')
    order by p.table_name, c.ordinal_position`,
  unalterable: sql`
    select table_name as \`table\`, null as types,
      'has system versioning: set global system_versioning_alter_history = keep, or add them yourself' as why
    from information_schema.tables where table_schema = database() and table_type = 'SYSTEM VERSIONED'
      and @@system_versioning_alter_history <> 'KEEP'`,
  // Nothing tells which indexes MariaDB made, so these are all that begin with the first column of a foreign key.
  replaceable: sql`
    select s.table_name as \`table\`, s.index_name as \`key\`, s.column_name as \`column\`
    from information_schema.statistics s
    join information_schema.statistics f
      on f.table_schema = s.table_schema and f.table_name = s.table_name and f.index_name = s.index_name
      and f.seq_in_index = 1
    where s.table_schema = database() and s.non_unique = 1 and exists (
      select 1 from information_schema.key_column_usage k
      where k.table_schema = f.table_schema and k.table_name = f.table_name and k.column_name = f.column_name
        and k.ordinal_position = 1 and k.referenced_table_name is not null)
    order by s.table_name, s.index_name, s.seq_in_index`,
  tablesWithTriggers: sql`
    select event_object_table as \`table\` from information_schema.triggers
    where event_object_schema = database() and action_timing = 'BEFORE' and event_manipulation = 'INSERT'`,
  // No trigger changes rows of its own table. But an insert computes virtual columns for `returning` before it knows
  // the key that it generates.
  tablesChangedLater: sql`
    select distinct c.table_name as \`table\`, c.column_name as \`column\`
    from information_schema.columns c join information_schema.columns k using (table_schema, table_name)
    where table_schema = database() and instr(c.generation_expression, ${inBackticks(sql`k.column_name`)}) > 0
      and (k.extra like '%auto_increment%' or k.is_generated <> 'NEVER') and table_name in (select table_name
        from information_schema.columns where table_schema = database() and extra like '%auto_increment%')`,
  // MyISAM and Aria accept foreign keys without making them.
  tablesWithoutForeignKeys: sql`
    select table_name as \`table\`, case when engine = 'InnoDB'
      then 'is partitioned: declare a field of another kind'
      else concat('is kept by the storage engine ', engine, ': convert it to InnoDB') end as why
    from information_schema.tables where table_schema = database()
      and (engine <> 'InnoDB' or create_options like '%partitioned%')`,
  // A view has no engine of its own, so a view of such a table is not found.
  tablesWithoutTransactions: sql`
    select t.table_name as \`table\`, concat('is kept by the storage engine ', t.engine,
      ', which has no transactions: run ''alter table … engine = InnoDB''') as why
    from information_schema.tables t join information_schema.engines e on e.engine = t.engine
    where t.table_schema = database() and coalesce(e.transactions, 'NO') <> 'YES'`,
  toStandardTexts,
  // An enum that is not null has its first value as a default.
  implicitDefaults: ['enum'],
  types: {
    tinyint: ({ digits: [length], ...type }) =>
      length === 1 && !type.written.includes('unsigned') ? described.boolean() : described.integer(),
    smallint: described.integer,
    mediumint: described.integer,
    int: integer,
    bigint,
    double: number,
    float: number,
    decimal: described.decimal,
    datetime: described.datetime,
    timestamp: described.datetime,
    date: described.date,
    bit: ({ digits: [length] }) => length === 1 ? described.boolean() : undefined,
    year: described.integer,
    uuid: described.uuid,
    enum: ofLabels(described.enum),
    set: ofLabels(long),
    time: ofBytes(17),
    inet4: ofBytes(15),
    inet6: ofBytes(45),
    char: text,
    varchar: text,
    tinytext: ofBytes(255),
    text: ofBytes(65_535),
    mediumtext: long,
    longtext: ({ written }) => written === 'json' ? described.json() : { kind: 'text', options: {} }
  },
  fits: {
    key: isSafe,
    boolean: (column) => sql`${column} in (0, 1)`,
    bigint: (column) => sql`${column} <= 9223372036854775807`
  }
}
