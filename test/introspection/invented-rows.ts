import { sql, type Kysely } from 'kysely'
import { readHandle } from '../../lib/database/engine.js'
import type { ColumnRow, ReferenceRow } from '../../lib/engines/catalog.js'
import type { Tables } from '../../lib/engines/executor.js'
import { engine } from '../support/database.js'

/** Rows of each table. The last one has null wherever it may. */
export const rowCount = 6

interface Found {
  readonly columns: readonly ColumnRow[]
  readonly references: readonly ReferenceRow[]
  readonly keys: ReadonlyMap<string, readonly string[]>
  readonly enums: ReadonlyMap<string, readonly string[]>
}

/** Values that a check of a schema demands, by `table.column` or by column. */
const demanded: Readonly<Record<string, readonly string[]>> = {
  'memberships.role': ['owner', 'member'],
  'film.rating': ['PG-13', 'R'],
  'film.release_year': ['2006', '1999'],
  'film.special_features': ['Trailers,Deleted Scenes', 'Commentaries'],
  'todos.task': ['write it down', 'read, then write'],
  'Order Details.Discount': ['0.25', '0.5'],
  'Order Details.Quantity': ['3', '12'],
  'order_items.quantity': ['3', '12'],
  action_flag: ['1', '2'],
  'shop_product.attributes': ['{"a": [1, "x"]}', '[]']
}

/** How a program writes moments to SQLite, which has no type for them. */
const writtenMoments: Readonly<Record<string, readonly string[]>> = {
  'better-auth': ['2024-02-29T12:34:56.789Z', '2024-12-31T23:59:59.000Z', '1999-01-01T00:00:00.001Z'],
  prisma: ['2024-02-29T12:34:56.789+00:00', '2024-12-31T23:59:59.000+00:00', '1999-01-01T00:00:00.001+00:00'],
  chinook: ['2024-02-29 00:00:00', '2024-12-31 23:59:59', '1999-01-01 00:00:00'],
  northwind: ['2024-02-29', '2024-12-31', '1999-01-01']
}

const moments = {
  sqlite: ['2024-02-29 12:34:56.789123', '2024-12-31 23:59:59', '1999-01-01 00:00:00.000001'],
  postgres: ['2024-02-29 12:34:56.789123+05:30', '2024-12-31 23:59:59.999999+00', '1999-01-01 00:00:00.000001-08'],
  mariadb: ['2024-02-29 12:34:56.789123', '2024-12-31 23:59:59.999', '1999-01-01 00:00:00.000001']
} as const

const texts = ['Plain', 'O\'Hara, "100 %"', 'Zoë ß 漢字', 'a/b?c=d&e', 'UPPER lower', 'the last']
/** Beginnings of keys: what a path, a list of values or a cursor could take for its own. */
const keyTexts = ['k', 'K,', 'a/', '%2', 'é ', 'z&']

/** Invents rows for every table of a schema, which fit its keys, references and checks. */
export async function inventRows (db: Kysely<Tables>, schema: string): Promise<void> {
  const found = await readFound(db)
  const { catalog } = readHandle(db).dialect
  const { rows: tables } = await catalog.tables.execute(db)
  await db.connection().execute(async (connection) => {
    await withoutReferences(connection, async () => {
      for (const { name } of tables.filter(({ kind }) => kind === 'table')) {
        const columns = found.columns.filter(({ table, computed }) => table === name && Number(computed) === 0)
          .filter(({ written }) => !/^(tsvector|geometry|point)/.test(written))
        const rows = Array.from({ length: rowCount }, (_row, row) => sql`(${sql.join(columns.map((column) =>
          literal(inventValue(found, column, row, schema), column)))})`)
        await sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column.name)))})
          ${sql.raw(engine === 'postgres' ? 'overriding system value' : '')} values ${sql.join(rows)}`
          .execute(connection)
      }
    })
  })
}

async function readFound (db: Kysely<Tables>): Promise<Found> {
  const { catalog } = readHandle(db).dialect
  const { rows: columns } = await catalog.columns.execute(db)
  const { rows: references } = await catalog.references.execute(db)
  const { rows: keyRows } = await catalog.keys.execute(db)
  const keys = new Map<string, string[]>()
  for (const { table, column, primary } of keyRows) {
    if (Number(primary) === 1) keys.set(table, [...keys.get(table) ?? [], String(column)])
  }
  const { rows: labels } = engine !== 'postgres'
    ? { rows: [] }
    : await sql<{ name: string, label: string }>`select format_type(enumtypid, null) as name, enumlabel as label
      from pg_enum order by enumsortorder`.execute(db)
  const enums = new Map<string, string[]>()
  for (const { name, label } of labels) enums.set(name, [...enums.get(name) ?? [], label])
  return { columns, references, keys, enums }
}

async function withoutReferences (db: Kysely<Tables>, act: () => Promise<void>): Promise<void> {
  const [off, on] = {
    sqlite: ['pragma foreign_keys = off', 'pragma foreign_keys = on'],
    postgres: ['set session_replication_role = replica', 'reset session_replication_role'],
    mariadb: ['set foreign_key_checks = 0', 'set foreign_key_checks = 1']
  }[engine]
  for (const statement of [String(off), 'begin']) await sql.raw(statement).execute(db)
  await act()
  for (const statement of ['commit', String(on)]) await sql.raw(statement).execute(db)
}

/** A text that the engine converts to the type of the column; null for null. */
function inventValue (found: Found, column: ColumnRow, row: number, schema: string): string | null {
  const { table, name, nullable } = column
  const reference = found.references.find((one) => one.table === table && one.column === name)
  const isKey = found.keys.get(table)?.includes(name) === true
  if (Number(nullable) === 1 && !isKey && row === rowCount - 1) return null
  if (reference !== undefined && reference.target !== '') return referredValue(found, reference, row, schema)
  const { [`${table}.${name}`]: values = demanded[name] } = demanded
  if (values !== undefined && !isKey && !column.written.endsWith('[]')) return values[row % values.length] ?? null
  const labels = found.enums.get(column.written) ?? labelsOf(column.written)
  if (labels !== undefined) return labels[row % labels.length] ?? null
  return valueOfType(column, row, { schema, isKey })
}

function referredValue (found: Found, reference: ReferenceRow, row: number, schema: string): string | null {
  const fold = (name: string) => name.toLowerCase()
  const key = [...found.keys].find(([table]) => fold(table) === fold(reference.target))?.[1][0]
  const target = found.columns.find(({ table, name }) => fold(table) === fold(reference.target) &&
    fold(name) === fold(reference.targetColumn ?? String(key)))
  if (target === undefined) throw new Error(`${reference.table}.${reference.column} refers to nothing`)
  return inventValue(found, target, row, schema)
}

function labelsOf (written: string): string[] | undefined {
  const [, labels] = /^(?:enum|set)\((.*)\)$/s.exec(written) ?? []
  return labels?.split(',').map((label) => label.slice(1, -1))
}

interface Setting {
  readonly schema: string
  readonly isKey: boolean
}

function valueOfType (column: ColumnRow, row: number, { schema, isKey }: Setting): string {
  const written = column.written.toLowerCase()
  const is = (pattern: RegExp): boolean => pattern.test(written)
  const pick = (values: readonly string[]): string => String(values[row % values.length])
  if (is(/\[\]$/)) return '{a,"b c"}'
  if (is(/^(interval)/)) return '1 day 02:03:04'
  if (is(/^(inet)/)) return `10.0.0.${row}`
  if (is(/^(bytea|.*blob|binary)/)) return 'bytes'
  if (is(/^json/)) return pick(['{"a": [1, "x"]}', '[]', '{"ä": {"b": null}}'])
  if (is(/^uuid|char\(3[26]\)/) && schema !== 'better-auth') return uuidOf(written, row)
  const moment = engine === 'sqlite' ? writtenMoments[schema] : undefined
  if (is(/^(timestamp|datetime)/)) return pick(moment ?? moments[engine])
  if (is(/^date/)) return pick((schema === 'better-auth' && moment) || ['2024-02-29', '1999-12-31', '2030-01-01'])
  if (is(/^time with/)) return '12:34:56.5+02'
  if (is(/^time\(/)) return pick(['12:34:56', '00:00:00.5', '23:59:59.999999'])
  if (is(/^time/)) return pick(['12:34:56', '00:00:00', '23:59:59'])
  if (is(/^year/)) return String(2000 + row)
  if (is(/^bit/)) return '101'
  if (is(/^bool|^tinyint\(1\)/)) return engine === 'postgres' ? pick(['true', 'false']) : pick(['1', '0'])
  if (is(/int|serial/)) return isKey ? String(row + 1) : numberOf(written, row)
  if (is(/^(real|float|double|numeric|decimal)/)) return isKey ? String(row + 1) : pick(['1.1', '0.5', '12.25', '0'])
  return textOf(column, row, isKey)
}

function uuidOf (written: string, row: number): string {
  const uuid = `0f8fad5b-d9cb-469f-a165-7086772895${String(row).padStart(2, '0')}`
  return written.includes('(32)') ? uuid.replaceAll('-', '') : uuid
}

function numberOf (written: string, row: number): string {
  if (/bigint|int8/.test(written)) return String(9_007_199_254_740_993n + BigInt(row))
  return String([0, 1, 100, 42, 7, 99][row])
}

function textOf ({ written }: ColumnRow, row: number, isKey: boolean): string {
  const [, length = '60'] = /\((\d+)/.exec(written) ?? (written === '"char"' ? [written, '1'] : [])
  if (Number(length) === 1) return String.fromCharCode(97 + row)
  const text = isKey ? String(keyTexts[row]) : String(texts[row])
  return `${[...text].slice(0, Number(length) - 1).join('')}${row}`
}

function literal (value: string | null, { written }: ColumnRow) {
  if (value === null) return sql`null`
  if (!/^(bytea|.*blob|binary)/i.test(written)) return sql.lit(value)
  const hex = Buffer.from(value).toString('hex')
  return engine === 'postgres' ? sql.lit(`\\x${hex}`) : sql.raw(`x'${hex}'`)
}
