import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Tables } from '../../lib/engines/executor.js'
import type { Model } from '../../lib/index.js'
import { engine } from '../support/database.js'

type Column = Model['columns'][number]
type Text = string | null

/** The rows of a table as the documentation says that records show them, from the texts of the engine. */
export async function shownBySql (db: Kysely<Tables>, model: Model): Promise<Array<Record<string, unknown>>> {
  const columns = model.columns.map((column) => sql`${textOf(column)} as ${sql.ref(column.key)}`)
  const query = sql<Record<string, Text>>`select ${sql.join(columns)} from ${sql.table(model.table)}`
  const { rows } = await query.execute(db)
  const { parts } = model.primaryKey
  return rows.map((row) => {
    const record = Object.fromEntries(model.columns.map((column) =>
      [column.key, shown(column, row[column.key] ?? null)]))
    return parts === undefined ? record : { id: idOf(record, parts), ...record }
  })
}

/** The `id` of a record whose key has several columns. */
function idOf (record: Readonly<Record<string, unknown>>, parts: readonly Column[]): string {
  return parts.map(({ key }) => encodeURIComponent(String(record[key]))).join()
}

/** A value as text, moments in UTC. */
function textOf ({ name, kind }: Column): RawBuilder<Text> {
  const column = sql.ref(name)
  if (kind === 'datetime' && engine === 'postgres') {
    return sql`case when pg_typeof(${column}) = 'timestamptz'::regtype
      then to_char((${column})::timestamptz at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS')
      else to_char(${column}, 'YYYY-MM-DD HH24:MI:SS') end`
  }
  if (engine === 'postgres') return sql`${column}::text`
  if (engine === 'mariadb') return sql`cast(${column} as char)`
  return sql`cast(${column} as text)`
}

function shown (column: Column, text: Text): unknown {
  if (text === null) return null
  const { kind, options } = column.target?.().primaryKey ?? column
  switch (kind) {
    case 'key': case 'integer': case 'number': return Number(text)
    case 'boolean': return ['1', 't', 'true'].includes(text)
    case 'json': return JSON.parse(text)
    case 'datetime': return toMoment(text)
    case 'decimal': return Number(text).toFixed(options.scale ?? 2)
    default: return text
  }
}

/** Cuts fractions of a second, and adds what is missing of a moment. */
function toMoment (text: string): string {
  const [, day, time = '00:00:00'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d))?/.exec(text) ?? []
  return `${day} ${time}`
}
